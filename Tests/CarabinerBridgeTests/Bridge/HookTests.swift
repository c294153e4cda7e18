import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import Synchronization
import TestTools
import Testing

/// A transport whose responses the test defines.
final class AnsweringTransport: HTTPTransport {
  private let status: Int
  private let body: String
  private let gate: AsyncStream<Void>?
  private let opener: AsyncStream<Void>.Continuation?
  private let sent = Mutex<[Carabiner.URLRequest]>([])

  /// - Parameter isHeld: Whether responses wait for `release()`.
  init(status: Int = 200, body: String = #"{"data":{"hero":{"name":"server"}}}"#, isHeld: Bool = false) {
    self.status = status
    self.body = body
    (gate, opener) = isHeld ? AsyncStream.makeStream() : (nil, nil)
  }

  /// Lets all responses go on.
  func release() { opener?.finish() }

  var requests: [Carabiner.URLRequest] { sent.withLock { $0 } }

  func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
    sent.withLock { $0.append(request) }
    if let gate { for await _ in gate {} }
    try Task.checkCancellation()
    return HTTPResponse(
      response: Carabiner.HTTPURLResponse(url: request.url, statusCode: status, headers: ["Content-Type": "application/json"]),
      chunks: PullStream(Data(body.utf8)))
  }
}

/// Scripts/test runs these tests a second time with all plugins in workers.
@Suite("Hooks of plugins, well-behaved and not")
struct HookTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)

  private func client(
    _ modes: [String], _ transport: AnsweringTransport = AnsweringTransport(), extra: String = "",
    http: String = "[response-code]"
  ) async throws -> ApolloClient {
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let plugins = modes.enumerated().map {
      "  - {name: p\($0), file: \(path), config: {mode: \($1)}\(extra)}"
    }
    let names = modes.indices.map { "p\($0)" }.joined(separator: ", ")
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {cancel-grace: 100ms}
        plugins:
        \(plugins.joined(separator: "\n"))
        chain: {graphql: [\(names)], http: \(http)}
        """)
    guard let url = URL(string: "http://127.0.0.1:1/graphql") else { throw CancellationError() }
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: try HostedChain(manifest), endpointURL: url, httpTransport: transport))
  }

  private func name(_ modes: [String], _ transport: AnsweringTransport = AnsweringTransport()) async throws -> String? {
    let results = try await client(modes, transport).results(of: Self.operation, cachePolicy: .networkOnly)
    var name: String?
    for try await response in results { name = try response.data?["hero"]?["name"]?.string }
    return name
  }

  private func error(_ modes: [String], _ transport: AnsweringTransport = AnsweringTransport()) async throws -> PluginError? {
    do {
      _ = try await name(modes, transport)
      return nil
    } catch let error as PluginError {
      return error
    }
  }

  @Test(
    "a violation of the contract is a fault that names plugin and hook", .rule("worker-test.7"),
    arguments: [
      ("unknown-verdict", "99"), ("recover-in-request", "RECOVER"), ("pending-without-token", "PENDING without a token"),
      ("suspend-without-pending", "token was taken"), ("respond-empty", "without a staged result"),
      ("continue-after-emit", "CONTINUE after staging"), ("resume-with-pending", "resume() with PENDING"),
      ("respond-in-result", "RESPOND"),
    ])
  func faults(mode: String, message: String) async throws {
    let fault = try #require(await error([mode]))
    #expect(fault.code == .fault)
    #expect(fault.entry == "p0")
    #expect(fault.message.contains(message), "\(fault.message)")
    #expect(fault.message.contains("disable the plugin"))
  }

  @Test("on-fault: skip passes such a plugin over")
  func skipped() async throws {
    let results = try await client(["unknown-verdict"], extra: ", on-fault: skip").results(
      of: Self.operation, cachePolicy: .networkOnly)
    var iterator = results.makeAsyncIterator()
    #expect(try await iterator.next()?.data?["hero"]?["name"]?.string == "server")
  }

  @Test("a negative verdict is a FAIL")
  func negative() async throws {
    #expect(try await error(["negative-verdict"])?.code == .failed)
  }

  @Test(
    "host functions refuse invalid calls", .rule("worker-test.15", "worker-test.16"),
    arguments: [
      ("header-crlf", "status -1"), ("undeclared-edit", "status -9"), ("undeclared-read", "status -5"),
      ("stale-handle", "status -4"),
      ("stale-buffer", "status -4"), ("endless-sizes", "refused 10"),
    ])
  func refusals(mode: String, message: String) async throws {
    #expect(try await error([mode])?.message == message)
  }

  @Test("a handle of a call that is over is stale")
  func staleAfterwards() async throws {
    let client = try await client(["last-call-is-stale"])
    func run() async throws {
      for try await _ in try client.results(of: Self.operation, cachePolicy: .networkOnly) {}
    }
    try await run()
    let error = await #expect(throws: PluginError.self) { try await run() }
    #expect(error?.message == "status -4")
  }

  @Test(
    "a suspended hook continues when it is resumed", .rule("worker-test.9", "worker-test.10"),
    arguments: ["resume-before-return", "resume-later", "resume-twice", "two-tokens"])
  func suspended(mode: String) async throws {
    #expect(try await name([mode]) == "server")
  }

  @Test("a hook resumed with FAIL fails the call")
  func suspendedAndFailed() async throws {
    #expect(try await error(["resume-with-fail"])?.code == .failed)
  }

  @Test(
    "a hook that stays pending beyond its timeout is revoked, however short that is", .rule("worker-test.11"),
    arguments: ["50ms", "0.000001ms"])
  func pendingTooLong(timeout: String) async throws {
    let results = try await client(["never-resume"], extra: ", timeout: \(timeout)").results(
      of: Self.operation, cachePolicy: .networkOnly)
    var iterator = results.makeAsyncIterator()
    let error = await #expect(throws: PluginError.self) { try await iterator.next() }
    #expect(error?.code == .timedOut)
  }

  @Test("cancelling a call whose hook is pending ends it after the grace")
  func cancelPending() async throws {
    let client = try await client(["never-resume"])
    let task = Task {
      for try await _ in try client.results(of: Self.operation, cachePolicy: .networkOnly) {}
    }
    try await Task.sleep(for: .milliseconds(30))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("RESPOND answers without the network, and the stages further out see the answer", .rule("worker-test.6"))
  func respond() async throws {
    let transport = AnsweringTransport()
    #expect(try await name(["replace", "respond"], transport) == "replaced")
    #expect(try await name(["continue", "respond"], transport) == "plugin")
    #expect(transport.requests.isEmpty)
  }

  @Test("an answer that is not valid JSON is refused")
  func respondGarbage() async throws {
    await #expect(throws: ResponseParsingError.self) { try await name(["respond-garbage"]) }
  }

  @Test("results can be replaced and dropped")
  func results() async throws {
    #expect(try await name(["replace"]) == "replaced")
    let error = await #expect(throws: RequestChainError.self) { try await name(["drop"]) }
    #expect(error?.code == .noResults)
  }

  @Test("errors can be recovered from, dropped and replaced by stages further out")
  func errors() async throws {
    let failing = AnsweringTransport(status: 500, body: "")
    #expect(try await name(["recover"], failing) == "recovered")
    #expect(try await name(["recover", "fail-in-result"]) == "recovered")
    #expect(try await error(["replace-error"], failing)?.message == "it was a 500")
    let dropped = await #expect(throws: RequestChainError.self) { try await name(["drop-error"], failing) }
    #expect(dropped?.code == .noResults)
  }

  @Test("a failure after a recovery reaches the caller as the error of its plugin")
  func failureAfterRecovery() async throws {
    let failing = AnsweringTransport(status: 500, body: "")
    #expect(try await error(["fail-in-result", "recover"], failing)?.message == "not this one")
    #expect(try await name(["recover", "fail-in-result", "recover"], failing) == "recovered")
  }

  @Test("stages further out see the error of a stage that asked for too many retries")
  func exhaustedRetries() async throws {
    let failing = AnsweringTransport(status: 500, body: "")
    #expect(try await error(["retry-in-error"], failing)?.code == .retryLimit)
    #expect(try await error(["replace-error", "retry-in-error"], failing)?.message == "it was something else")
  }

  @Test("a stage's own failure does not come back to it")
  func ownFailure() async throws {
    #expect(try await error(["fail-in-result"])?.message == "not this one")
  }

  @Test("a staged header reaches the server")
  func header() async throws {
    let transport = AnsweringTransport()
    _ = try await name(["header"], transport)
    #expect(transport.requests.first?.headers["x-plugin"] == "yes")
  }

  @Test("retries count up and are bounded by the host")
  func retries() async throws {
    #expect(try await name(["retry-once"]) == "server")
    #expect(try await error(["retry-always"])?.code == .retryLimit)
  }

  @Test("many calls at once, each with a suspended hook, all end")
  func concurrency() async throws {
    let client = try await client(["resume-later", "header", "resume-before-return"])
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<64 {
        group.addTask {
          var count = 0
          for _ in 0..<5 {
            for try await _ in try client.results(of: Self.operation, cachePolicy: .networkOnly) { count += 1 }
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(count == 320)
  }
}
