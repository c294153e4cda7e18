import CCarabiner
import Carabiner
import CarabinerManifest
import Foundation
import TestTools
import Testing

@testable import CarabinerBridge

/// One plugin with all four stages for each kit, in real chains over a real network. The expectations are the same for every
/// language.
@Suite("Kits for plugin authors")
struct KitTests {
  private typealias Chain = KitChain

  // MARK: What stages do

  @Test("all four stages of a plugin work together", arguments: KitPlugin.allCases)
  func stages(kit: KitPlugin) async throws {
    let chain = try await Chain(kit)
    defer { chain.server.stop() }
    let first = try await chain.pass(.cacheFirst)
    #expect(first.name == "server+chunk+200+result")
    #expect(first.source == .server)
    let request = try #require(chain.server.requests.first).lowercased()
    #expect(request.contains("x-kit-graphql: request\r\n"))
    #expect(request.contains("x-kit-http: post from graphql\r\n"))
    let second = try await chain.pass(.cacheFirst)
    #expect(second.source == .cache)
    #expect(second.name?.hasPrefix("server+chunk+200+result") == true)
    #expect(chain.server.requests.count == 1)
  }

  @Test("the slots of hooks a plugin lacks are NULL, those of hooks it has are not", arguments: KitPlugin.allCases)
  func slots(kit: KitPlugin) async throws {
    let path = try await kit.path
    let library = unsafe try #require(dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
    let symbol = unsafe try #require(dlsym(library, "crb_entry_v1"))
    typealias Entry = @convention(c) (UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>?
    let entry = unsafe unsafeBitCast(symbol, to: Entry.self)
    let host = unsafe HostTable.make(
      for: "slots", subject: CrashSubject(entry: "", file: path, digest: "", generation: 0), library: "")
    let plugin = unsafe try #require(entry(host)).pointee
    #expect(unsafe plugin.count == 2)
    let interceptor = unsafe try #require(plugin.items[0]).pointee
    let graphql = unsafe try #require(interceptor.graphql).pointee
    #expect(unsafe graphql.on_request != nil && graphql.on_result != nil && graphql.on_error != nil)
    #expect(unsafe graphql.on_end == nil)
    let http = unsafe try #require(interceptor.http).pointee
    #expect(unsafe http.on_request != nil && http.on_head != nil && http.on_chunk != nil)
    #expect(unsafe http.on_end == nil && http.on_error == nil)
    let cache = unsafe try #require(interceptor.cache).pointee
    #expect(unsafe cache.on_read != nil && cache.on_write != nil && cache.on_error == nil && cache.on_end == nil)
    let parser = unsafe try #require(interceptor.parser).pointee
    #expect(unsafe parser.on_head != nil && parser.on_chunk != nil && parser.on_end != nil)
    #expect(unsafe parser.on_error == nil)
  }

  @Test("a stage that responds itself provides the result", arguments: KitPlugin.allCases)
  func answers(kit: KitPlugin) async throws {
    let responding = try await Chain(kit, "respond")
    #expect(try await responding.run().name == "plugin")
    #expect(responding.server.requests.isEmpty)
    let short = try await Chain(kit, "short circuit")
    #expect(try await short.run().name == "short++result")
    #expect(short.server.requests.isEmpty)
    #expect(try await Chain(kit, "recover", status: 503).run().name == "recovered from 503")
    let dropped = await #expect(throws: RequestChainError.self) { try await Chain(kit, "drop").run() }
    #expect(dropped?.code == .noResults)
  }

  @Test("state survives a retry", arguments: KitPlugin.allCases)
  func retry(kit: KitPlugin) async throws {
    let chain = try await Chain(kit, "retry")
    #expect(try await chain.run().name == "server+chunk+200+result")
    #expect(chain.server.requests.count == 1)
    #expect(chain.server.requests.first?.lowercased().contains("x-kit-passes: 2\r\n") == true)
  }

  // MARK: Waiting

  @Test(
    "a suspended hook changes the request when it goes on", arguments: KitPlugin.allCases,
    [("after", "x-kit-later: after"), ("thread", "x-kit-later: thread"), ("fetch", "x-kit-fetch: 200 fetched")])
  func waiting(kit: KitPlugin, _ expected: (mode: String, header: String)) async throws {
    let chain = try await Chain(kit, expected.mode, extra: "grants: [fetch]")
    #expect(try await chain.run().name == "server+chunk+200+result")
    let request = try #require(chain.server.requests.first).lowercased()
    #expect(request.contains(expected.header + "\r\n"), "\(request)")
  }

  @Test("cancelling a call wakes what it waits for", .timeLimit(.minutes(15)), arguments: KitPlugin.allCases)
  func cancelling(kit: KitPlugin) async throws {
    let chain = try await Chain(kit, "cancel")
    let task = Task { try await chain.run() }
    try await Task.sleep(for: .milliseconds(100))
    let start = ContinuousClock.now
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(ContinuousClock.now - start < .seconds(10), "the host had to wait for the end of the grace")
  }

  @Test("work that runs after its call is over gets a stale status", arguments: KitPlugin.allCases)
  func late(kit: KitPlugin) async throws {
    let chain = try await Chain(kit, "late", extra: "timeout: 20ms")
    let error = await #expect(throws: PluginError.self) { try await chain.pass(.networkOnly) }
    #expect(error?.code == .timedOut)
    _ = await eventually {
      _ = try? await chain.pass(.networkOnly)
      return !chain.server.requests.isEmpty
    }
    chain.server.stop()
    let request = try #require(chain.server.requests.first)
    #expect(request.contains("(status -4)"), "\(request)")
  }

  // MARK: Failing

  @Test(
    "an exception in a hook fails the call with its message", arguments: KitPlugin.allCases,
    [
      "graphql.on_request", "graphql.on_result", "http.on_request", "http.on_head", "http.on_chunk", "parser.on_head",
      "parser.on_chunk", "parser.on_end",
    ])
  func throwing(kit: KitPlugin, hook: String) async throws {
    let error = await #expect(throws: (any Error).self) { try await Chain(kit, "throw in \(hook)").run() }
    let thrown = try #require((error as? ResponseParsingError)?.underlying ?? (error as? PluginError))
    #expect(thrown.code == .failed)
    #expect(thrown.entry == "kit")
    #expect(thrown.message.contains("thrown in \(hook)"), "\(thrown.message)")
  }

  @Test("an exception in on_error replaces the error", arguments: KitPlugin.allCases)
  func throwingInError(kit: KitPlugin) async throws {
    let error = await #expect(throws: PluginError.self) {
      try await Chain(kit, "throw in graphql.on_error", status: 503).run()
    }
    #expect(error?.message.contains("thrown in graphql.on_error") == true)
  }

  @Test("a cache that fails to write fails no call", arguments: KitPlugin.allCases)
  func throwingInWrite(kit: KitPlugin) async throws {
    #expect(try await Chain(kit, "throw in cache.on_write").run().name == "server+chunk+200+result")
  }

  @Test(
    "errors say what is wrong", arguments: KitPlugin.allCases,
    [
      ("throw later", "thrown later"), ("undeclared", "(status -9)"), ("fetch", "grants: [fetch]"),
    ])
  func messages(kit: KitPlugin, _ expected: (mode: String, message: String)) async throws {
    let error = await #expect(throws: PluginError.self) { try await Chain(kit, expected.mode).run() }
    #expect(error?.code == .failed)
    #expect(error?.message.contains(expected.message) == true, "\(error?.message ?? "")")
  }

  @Test("a failure says what a client is answered, and when it may ask again", arguments: KitPlugin.allCases)
  func refusals(kit: KitPlugin) async throws {
    let error = await #expect(throws: PluginError.self) { try await Chain(kit, "too many").run() }
    #expect(error?.message == "too many at once" && error?.pluginCode == 7)
    #expect(error?.refusalStatus == 429 && error?.refusalDelay == .milliseconds(1500))
  }

  // In the Swift kit, no token can be dropped: the work of a suspended hook always ends.
  @Test("a suspended hook that is never finished fails", arguments: [KitPlugin.cpp, .rust])
  func lettingGo(kit: KitPlugin) async throws {
    let error = await #expect(throws: PluginError.self) { try await Chain(kit, "let go").run() }
    #expect(error?.message.contains("dropped a suspended hook") == true)
  }

  @Test("a request that cannot be made fails the hook that waits for it", arguments: KitPlugin.allCases)
  func refusedFetch(kit: KitPlugin) async throws {
    let error = await #expect(throws: PluginError.self) {
      try await Chain(kit, "fetch", extra: "grants: [fetch]", url: "ftp://127.0.0.1/").run()
    }
    #expect(error?.message.contains("(status -1)") == true, "\(error?.message ?? "")")
  }

  @Test("an instance that refuses its configuration is not made", arguments: KitPlugin.allCases)
  func refusal(kit: KitPlugin) async throws {
    let error = await #expect(throws: HostError.self) { try await Chain(kit, "refuse") }
    #expect(error?.message.contains("refuses its configuration: this configuration is refused") == true)
  }

  @Test("a hundred calls at once, each with a suspended hook, all end", arguments: KitPlugin.allCases)
  func concurrency(kit: KitPlugin) async throws {
    let chain = try await Chain(kit, "after")
    defer { chain.server.stop() }
    let names = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<100 { group.addTask { try await chain.pass(.networkOnly).name } }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(names == ["server+chunk+200+result"])
  }
}

extension ResponseParsingError {
  /// The plugin's error inside this error.
  fileprivate var underlying: PluginError? { cause as? PluginError }
}
