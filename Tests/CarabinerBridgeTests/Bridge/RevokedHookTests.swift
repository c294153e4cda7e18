import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import TestTools
import Testing

/// Hooks that the host no longer waits for, while their plugins still read the borrowed data.
@Suite("Hooks whose token was revoked")
struct RevokedHookTests {
  enum Ending: CaseIterable {
    /// The hook is pending longer than the timeout of its entry and is skipped.
    case timeout
    /// The caller cancels, and the plugin takes longer than its grace period.
    case cancelled
  }

  /// Larger than the blocks that the allocator keeps after they are freed.
  private static let long = String(repeating: "x", count: 900_000)

  /// One request through a chain whose plugin is late in one hook.
  private struct Late {
    let plugins: HostedPlugins
    let said: NamedPipe
    let go: NamedPipe
    let chain: HostedChain

    init(_ hook: String, _ ending: Ending) async throws {
      plugins = try HostedPlugins()
      said = try NamedPipe(plugins.folder.file("said").path)
      go = try NamedPipe(plugins.folder.file("go").path)
      // Each test compiles its own file, so its library and the library's only worker belong to it alone.
      let path = try await FixturePlugin.compile(
        "late", defining: ["UNIQUE=\(UInt32.random(in: 1 ... .max))"], into: plugins.folder)
      let timeout = ending == .timeout ? ", timeout: 20ms, on-fault: skip" : ""
      chain = try HostedChain(
        Manifest(
          text: """
            carabiner: 1
            settings: {cancel-grace: 10ms}
            plugins:
              - {name: late, file: \(path), config: {hook: \(hook), folder: \(plugins.folder.url.path)}\(timeout)}
            chain: {graphql: [late], cache: [late], http: [late, response-code], parsing: [late, json]}
            """))
    }

    func request(status: Int) -> Task<Void, any Error> {
      let chain = chain
      return Task {
        let transport = AnsweringTransport(status: status, body: #"{"data":{"hero":{"name":"\#(RevokedHookTests.long)"}}}"#)
        let operation = DynamicOperation(document: "{ hero { name } } # \(RevokedHookTests.long)", operationName: nil)
        for try await _ in try HostedPlugins.client(chain, transport).results(of: operation) {}
      }
    }
  }

  @Test(
    "the plugin of a revoked hook can read its views until it resumes",
    arguments: [
      "graphql.on_request", "http.on_request", "http.on_head", "http.on_chunk", "parser.on_head", "parser.on_chunk",
      "cache.on_write", "graphql.on_result", "graphql.on_error",
    ], Ending.allCases)
  func reading(_ hook: String, _ ending: Ending) async throws {
    let late = try await Late(hook, ending)
    let request = late.request(status: hook.hasSuffix("on_error") ? 500 : 200)
    #expect(try await late.said.line() == "pending")
    if ending == .cancelled { request.cancel() }
    // The call is over, and everything that belongs to it is released.
    _ = await request.result
    try late.go.send("read")
    let seen = try await late.said.line()
    #expect(seen.contains("same") && !seen.contains("gone") && !seen.contains("changed"), "\(seen)")
    try late.go.send("resume")
    #expect(try await late.said.line() == "resume -4")
  }

  @Test("calls are refused while plugins that are late hold more memory than is allowed")
  func limit() async throws {
    let late = try await Late("graphql.on_request", .timeout)
    let request = late.request(status: 200)
    #expect(try await late.said.line() == "pending")
    try await request.value
    #expect(HostedChain.quarantinedCalls > 0)
    #expect(HostedChain.quarantinedBytes > 1 << 10)
    let path = try await FixturePlugin.compile("misbehave", into: late.plugins.folder, name: "other.so")
    let strict = try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          settings: {kept-memory: 1KiB}
          plugins: [{name: other, file: \(path), config: {mode: header}}]
          chain: {graphql: [other]}
          """))
    let error = await #expect(throws: PluginError.self) { try await HostedPlugins.name(strict) }
    #expect(error?.message.contains("kept-memory") == true, "\(String(describing: error))")
    for line in ["same", "resume -4"] {
      try late.go.send("go on")
      #expect(try await late.said.line().contains(line))
    }
  }
}
