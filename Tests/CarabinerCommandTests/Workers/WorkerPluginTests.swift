import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import CarabinerWorkers
import Foundation
import Glibc
import TestTools
import Testing

/// Chains whose plugins run in workers, and what happens when their processes end.
@Suite("Plugins in workers")
struct WorkerPluginTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// A transport that returns one result.
  private struct Transport: HTTPTransport {
    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      HTTPResponse(
        response: Carabiner.HTTPURLResponse(
          url: request.url, statusCode: 200, headers: ["Content-Type": "application/json"]),
        chunks: PullStream(Data(#"{"data":{"hero":{"name":"server"}}}"#.utf8)))
    }
  }

  private static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)

  private func chain(
    _ fixture: String, config: String, extra: String = "", isolation: String = "worker", replacing: HostedChain? = nil,
    linking: [String] = [], settings: String = "{}"
  ) async throws -> HostedChain {
    let path = try await FixturePlugin.compile(fixture, into: folder, linking: linking)
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: p, file: \(path), config: \(config), isolation: \(isolation)\(extra)}
        settings: \(settings)
        chain: {graphql: [p]}
        """)
    return try HostedChain(manifest, replacing: replacing)
  }

  private func name(_ chain: HostedChain) async throws -> String? {
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(interceptorProvider: chain, endpointURL: url, httpTransport: Transport()))
    var name: String?
    for try await response in try client.results(of: Self.operation, cachePolicy: .networkOnly) {
      name = try response.data?["hero"]?["name"]?.string
    }
    return name
  }

  private func failure(_ chain: HostedChain) async -> PluginError? {
    do {
      _ = try await name(chain)
      return nil
    } catch {
      return error as? PluginError
    }
  }

  private func process(_ chain: HostedChain) throws -> Int32 { try #require(chain.workers().first?.process) }

  /// Waits until another process runs.
  private func next(_ chain: HostedChain, after process: Int32) async throws -> Int32 {
    for _ in 0..<2000 {
      if let worker = chain.workers().first, worker.condition == .up, let new = worker.process, new != process { return new }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw TestFailure("no other process came up: \(chain.workers())")
  }

  /// Whether the circuit is open, once it is or another process is up.
  private func isOpen(_ chain: HostedChain, after process: Int32) async throws -> Bool {
    for _ in 0..<2000 {
      if let worker = chain.workers().first {
        if case .open = worker.condition { return true }
        if worker.condition == .up, let new = worker.process, new != process { return false }
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw TestFailure("no other process came up: \(chain.workers())")
  }

  private struct TestFailure: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  @Test("a plugin in a worker takes part in a request, and this process maps none of it", .rule("worker.1"))
  func takesPart() async throws {
    // With bytes of its own: other tests of this process load the same fixture.
    let build = UUID().uuidString.replacing("-", with: "")
    let chain = try await chain("crash", config: "{where: never}", linking: ["-Wl,--build-id=0x\(build)"])
    #expect(try await name(chain) == "server")
    let worker = try #require(chain.workers().first)
    #expect(worker.group == "p" && worker.entries == ["p"] && worker.condition == .up && worker.restarts == 0)
    #expect(!PluginLibrary.isLoaded(digest: try #require(chain.libraries["p"]?.digest)))
  }

  @Test(
    "a crash in a hook fails its call, and names entry, hook and signal", .rule("worker.44", "worker-test.26"),
    arguments: [
      ("on_request", "segv", "signal 11"), ("on_request", "abort", "signal 6"), ("on_request", "overflow", "signal 11"),
      ("on_result", "segv", "signal 11"),
    ])
  func crash(hook: String, how: String, reason: String) async throws {
    let chain = try await chain("crash", config: "{where: \(hook), how: \(how)}")
    let first = try process(chain)
    let failure = try #require(await failure(chain))
    #expect(failure.code == .crashed && failure.entry == "p" && failure.hook == hook)
    #expect(failure.message.contains(reason) && failure.message.contains("during this call"))
    #expect(try await next(chain, after: first) != first)
    #expect(chain.workers().first?.restarts == 1)
  }

  @Test("a hook that does not end is killed after hang, and its call fails", .rule("worker.46", "worker-test.28"))
  func hang() async throws {
    let chain = try await chain(
      "crash", config: "{where: on_request, how: loop}", isolation: "{mode: worker, hang: 200ms}")
    let first = try process(chain)
    let failure = try #require(await failure(chain))
    #expect(failure.code == .hung && failure.hook == "on_request" && failure.isTimeout)
    #expect(try await next(chain, after: first) != first)
  }

  @Test("with on-fault: skip, a request goes on without the plugin whose worker crashed", .rule("worker.40"))
  func skip() async throws {
    let chain = try await chain("crash", config: "{where: on_request, how: segv}", extra: ", on-fault: skip")
    #expect(try await name(chain) == "server")
  }

  @Test("a worker that is killed is started again, and requests go on", .rule("worker.50"))
  func killed() async throws {
    let chain = try await chain("crash", config: "{where: never}")
    let first = try process(chain)
    #expect(try await name(chain) == "server")
    #expect(kill(first, SIGKILL) == 0)
    _ = try await next(chain, after: first)
    #expect(try await name(chain) == "server")
    #expect(chain.workers().first?.lastReason.contains("signal 9") == true)
  }

  @Test("after five crashes the circuit is open, and calls get 503 with the time left", .rule("worker.51", "worker-test.33"))
  func circuit() async throws {
    let chain = try await chain(
      "crash", config: "{where: on_request, how: segv}",
      isolation: "{mode: worker, restart: {backoff: 1ms, maximum: 1ms, within: 1h}}",
      settings: "{breaker-cool-down: 1h}")
    for _ in 0..<5 {
      let process = chain.workers().first?.process ?? 0
      _ = await failure(chain)
      // The crash is noted a moment later, and the fifth one leads to no other process.
      if process != 0, try await isOpen(chain, after: process) { break }
    }
    var last = await failure(chain)
    _ = await eventually {
      last = await failure(chain)
      return last?.code == .unavailable
    }
    let refusal = try #require(last)
    #expect(refusal.code == .unavailable)
    #expect(refusal.refusalStatus == 503)
    #expect((refusal.refusalDelay ?? .zero) > .seconds(60))
  }

  @Test(
    "a reload keeps the worker of an entry that is the same, and starts another one for a new configuration", .rule("worker.55"))
  func reload() async throws {
    let chain = try await chain("crash", config: "{where: never}")
    let first = try process(chain)
    let same = try await self.chain("crash", config: "{where: never}", replacing: chain)
    #expect(try process(same) == first)
    let other = try await self.chain("crash", config: "{where: nowhere}", replacing: same)
    #expect(try process(other) != first)
    #expect(try await name(other) == "server")
  }

  @Test("a group with two workers has two processes, and both serve", .rule("worker.3"))
  func twoWorkers() async throws {
    let chain = try await chain("crash", config: "{where: never}", isolation: "{mode: worker, workers: 2}")
    #expect(Set(chain.workers().compactMap(\.process)).count == 2)
    for _ in 0..<10 { #expect(try await name(chain) == "server") }
  }

  @Test("a crash in create() refuses the manifest, and says how the worker ended")
  func crashInCreate() async throws {
    let error = await #expect(throws: HostError.self) {
      _ = try await self.chain("crash", config: "{where: create, how: abort}")
    }
    #expect(error?.message.contains("signal 6") == true)
  }
}
