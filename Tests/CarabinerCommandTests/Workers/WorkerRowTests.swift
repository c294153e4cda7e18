import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import CarabinerWorkers
import Foundation
import Synchronization
import TestTools
import Testing

/// Crossings that call the hooks of several stages.
@Suite("Rows of stages in workers")
struct WorkerRowTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// A transport that records the requests, and returns one result.
  private final class Transport: HTTPTransport {
    private let requests = Mutex<[Carabiner.HTTPHeaders]>([])

    var sent: [Carabiner.HTTPHeaders] { requests.withLock { $0 } }

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      requests.withLock { $0.append(request.headers) }
      return HTTPResponse(
        response: Carabiner.HTTPURLResponse(
          url: request.url, statusCode: 200, headers: ["Content-Type": "application/json", "X-Up": "server"]),
        chunks: PullStream(Data(#"{"data":{"hero":{"name":"server"}}}"#.utf8)))
    }
  }

  /// The result of a request through a chain.
  private struct Outcome: Equatable {
    var names: [String] = []
    var error: String?
    var sent: [String] = []
    /// Of each group, by name.
    var crossings: [String: Int] = [:]
  }

  private static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)

  /// A manifest with one entry of the plugin for each configuration.
  ///
  /// - Parameter isolation: Of each entry.
  private func chain(_ plugin: String, _ kind: String, _ configs: [String], isolation: [String], extra: [String] = []) throws
    -> HostedChain
  {
    var text = "carabiner: 1\nplugins:\n"
    for (index, config) in configs.enumerated() {
      let more = extra.isEmpty ? "" : ", " + extra[index]
      text += "  - {name: p\(index), file: \(plugin), config: \(config), isolation: \(isolation[index])\(more)}\n"
    }
    let names = configs.indices.map { "p\($0)" }.joined(separator: ", ")
    return try HostedChain(Manifest(text: text + "chain: {\(kind): [\(names)]}\n"))
  }

  private func request(_ chain: HostedChain) async throws -> Outcome {
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let transport = Transport()
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(interceptorProvider: chain, endpointURL: url, httpTransport: transport))
    let before = crossings(chain)
    var outcome = Outcome()
    do {
      for try await response in try client.results(of: Self.operation, cachePolicy: .networkOnly) {
        outcome.names.append(try response.data?["hero"]?["name"]?.string ?? "none")
      }
    } catch {
      outcome.error = (error as? PluginError).map { "\($0.entry) \($0.code) \($0.hook)" } ?? "\(error)"
    }
    outcome.sent = transport.sent.flatMap { headers in headers.map { "\($0.name): \($0.value)" } }.filter { $0.hasPrefix("X-") }
    outcome.crossings = crossings(chain).merging(before) { $0 - $1 }.filter { $0.value > 0 }
    return outcome
  }

  private func crossings(_ chain: HostedChain) -> [String: Int] {
    Dictionary(chain.workers().map { ($0.group, $0.counts.crossings) }) { $0 + $1 }
  }

  private static let inProcess = "in-process"
  private static let together = "{mode: worker, group: all}"

  private func both(_ plugin: String, _ kind: String, _ configs: [String]) async throws -> (here: Outcome, there: Outcome) {
    var outcomes: [Outcome] = []
    for isolation in [Self.inProcess, Self.together] {
      let chain = try chain(plugin, kind, configs, isolation: configs.map { _ in isolation })
      outcomes.append(try await request(chain))
    }
    return (outcomes[0], outcomes[1])
  }

  @Test(
    "ten stages of a group that change headers cross once for requests and once for responses",
    .rule("worker.26", "worker-test.3"))
  func crossesOnce() async throws {
    let plugin = try await FixturePlugin.compile("headers", into: folder)
    let configs = (0..<10).map { #"{down: "+X-Down:\#($0)", up: "+X-Up:\#($0)"}"# }
    let (here, there) = try await both(plugin, "http", configs)
    #expect(here.sent == (0..<10).map { "X-Down: \($0)" } && here.names == ["server"] && here.error == nil)
    #expect(there.sent == here.sent && there.names == here.names)
    #expect(there.crossings == ["all": 2])
  }

  @Test(
    "a stage sees the headers as the stages before it in the same crossing left them", .rule("worker-test.4"),
    arguments: [
      ["=X-A:1", "?X-A", "=X-Read:2 +X-A:3", "?X-A #X-A"],
      ["+X-A:1", "+X-A:2", "#X-A", "-X-A", "#X-A ?X-A"],
      ["+X-A:1 +X-A:2", "=X-A:3", "?X-A", "?x-a", "+x-a:4 #X-A", "#X-A"],
      ["-X-B", "=X-B:", "?X-B", "-X-Read"],
    ])
  func seesHeaders(words: [String]) async throws {
    let plugin = try await FixturePlugin.compile("headers", into: folder)
    let configs = words.map { #"{down: "\#($0)", up: "\#($0)"}"# }
    let (here, there) = try await both(plugin, "http", configs)
    #expect(here.error == nil && there.sent == here.sent && there.names == here.names && there.error == nil)
    #expect(there.crossings == ["all": 2])
  }

  @Test("in-process stages and stages of two groups run in the order of the chain", .rule("worker-test.2"))
  func order() async throws {
    let plugin = try await FixturePlugin.compile("headers", into: folder)
    let configs = (0..<6).map { #"{down: "+X-Down:\#($0) #X-Down", up: ""}"# }
    let (one, two) = ("{mode: worker, group: one}", "{mode: worker, group: two}")
    let chain = try chain(
      plugin, "http", configs, isolation: [Self.inProcess, one, one, two, one, Self.inProcess])
    let outcome = try await request(chain)
    #expect(outcome.sent.filter { $0.hasPrefix("X-Down") } == (0..<6).map { "X-Down: \($0)" })
    #expect(outcome.sent.contains("X-Count: 6"))
    // On requests: one for p1 and p2, then one for p3, then one for p4. The same on responses.
    #expect(outcome.crossings == ["one": 4, "two": 2])
  }

  @Test(
    "baggage that a stage sets is seen by later stages of the crossing, of other groups, and of this process",
    .rule("worker-test.23"))
  func baggage() async throws {
    let plugin = try await FixturePlugin.compile("row", into: folder)
    let words = [("show", "add"), ("add", "add"), ("add", "pass"), ("add", "pass"), ("add", "add"), ("add", "pass")]
    let configs = words.map { "{request: \($0.0 == "show" ? "pass" : $0.0), result: \($0.0 == "show" ? "show" : $0.1)}" }
    for isolations in [
      configs.map { _ in Self.together },
      [Self.inProcess, Self.together, Self.together, Self.inProcess, Self.together, Self.together],
      [Self.together, "{mode: worker, group: b}", Self.inProcess, Self.together, Self.together, "{mode: worker, group: b}"],
    ] {
      let outcome = try await request(try chain(plugin, "graphql", configs, isolation: isolations))
      #expect(outcome.names == ["7, 1"], "\(isolations)")
    }
  }

  @Test(
    "a stage that does more than change headers or baggage ends the crossing, and the result is that of in-process stages",
    .rule("worker-test.5", "worker.26"),
    arguments: [
      // Results go outward, from the last stage to the first.
      ([("pass", "show"), ("pass", "pass"), ("pass", "twice"), ("pass", "pass")], 3),
      ([("pass", "pass"), ("wait", "pass"), ("pass", "pass")], 3),
      ([("pass", "show"), ("add", "wait"), ("add", "pass")], 3),
      ([("pass", "show"), ("respond", "pass"), ("crash", "crash")], 2),
    ])
  func endsRow(words: [(String, String)], crossings: Int) async throws {
    let plugin = try await FixturePlugin.compile("row", into: folder)
    let configs = words.map { "{request: \($0.0), result: \($0.1)}" }
    let (here, there) = try await both(plugin, "graphql", configs)
    #expect(here.error == nil && there.names == here.names && there.error == here.error)
    #expect(there.crossings["all"].map { $0 >= crossings } == true, "\(there)")
  }

  @Test("A stage whose crossing is long answers before the stages behind it, and all results are there")
  func slow() async throws {
    let plugin = try await FixturePlugin.compile("row", into: folder)
    let configs = [("pass", "show"), ("slow", "add"), ("slow", "slow"), ("add", "add")].map {
      "{request: \($0.0), result: \($0.1)}"
    }
    let (here, there) = try await both(plugin, "graphql", configs)
    #expect(here.names == ["3, 1"] && there.names == here.names && there.crossings == ["all": 2])
  }

  @Test(
    "a crash is that of the stage whose hook ran, also if the chain waits for an earlier one of the crossing",
    .rule("worker.41", "worker.40"))
  func crash() async throws {
    let plugin = try await FixturePlugin.compile("row", into: folder)
    let configs = [("pass", "pass"), ("pass", "pass"), ("crash", "pass")].map { "{request: \($0.0), result: \($0.1)}" }
    let chain = try chain(
      plugin, "graphql", configs,
      isolation: configs.map { _ in "{mode: worker, group: all, restart: {backoff: 1ms, maximum: 1ms}}" },
      extra: configs.map { _ in "on-fault: open-after-3" })
    let outcome = try await request(chain)
    #expect(outcome.error == "p2 crashed on_request")
    let entries = Dictionary(uniqueKeysWithValues: chain.entries().map { ($0.name, $0) })
    #expect(["p0", "p1", "p2"].map { entries[$0]?.faults } == [0, 0, 1])
  }
}
