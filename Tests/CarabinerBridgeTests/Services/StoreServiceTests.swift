import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerSQLite
import CarabinerWire
import Foundation
import Synchronization
import TestTools
import Testing

/// A plugin that uses the store, in each language.
enum StorePlugin: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case c
  case cpp
  case rust
  case swift

  var testDescription: String { rawValue }
}

@Suite("Plugins that use the store of their host (crb.store/1)")
struct StoreServiceTests {
  private static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)
  private static let answer = #"{"data":{"hero":{"name":"server"}}}"#

  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func path(_ plugin: StorePlugin) async throws -> String {
    guard let kit = KitPlugin(rawValue: plugin.rawValue) else { return try await FixturePlugin.compile("store", into: folder) }
    return try await kit.entry
  }

  /// A client with the plugin as its caches, once for each mode.
  private func client(
    _ plugin: StorePlugin, caches modes: [String], then rest: String = "", graphql mode: String? = nil, store: ApolloStore?,
    grants: String = "[store]", transport: AnsweringTransport = AnsweringTransport(),
    observer: CacheFailureLog = CacheFailureLog()
  ) async throws -> ApolloClient {
    let path = try await path(plugin)
    let all = modes + [mode].compactMap(\.self)
    let plugins = all.enumerated().map {
      "  - {name: p\($0), file: \(path), config: {mode: \($1)}, grants: \(grants)}"
    }
    let caches = (modes.indices.map { "p\($0)" } + [rest]).filter { !$0.isEmpty }.joined(separator: ", ")
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
        \(plugins.joined(separator: "\n"))
        chain: {graphql: [\(mode == nil ? "" : "p\(modes.count)")], cache: [\(caches)]}
        """)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: try HostedChain(manifest, store: store), endpointURL: url, httpTransport: transport,
        store: store ?? ApolloStore(), observer: observer))
  }

  private func run(
    _ client: ApolloClient, _ policy: CachePolicy = .networkOnly
  ) async throws -> (text: String?, source: GraphQLResponse<DynamicOperation>.Source?) {
    var last: (text: String?, source: GraphQLResponse<DynamicOperation>.Source?) = (nil, nil)
    for try await response in try client.results(of: Self.operation, cachePolicy: policy) {
      last = (String(decoding: response.body.bytes, as: UTF8.self), response.source)
    }
    return last
  }

  private func stored(_ key: String, in store: ApolloStore) async throws -> [String: String]? {
    try await store.withinReadTransaction { try await $0.record(for: key) }?.fields.mapValues {
      String(decoding: $0, as: UTF8.self)
    }
  }

  // MARK: Caches

  @Test("a cache plugin writes to the store, another reads from it, and a third skips", arguments: StorePlugin.allCases)
  func readAndWrite(_ plugin: StorePlugin) async throws {
    let (store, transport) = (ApolloStore(), AnsweringTransport())
    let reader = try await client(plugin, caches: ["store read"], store: store, transport: transport)
    let skipper = try await client(plugin, caches: ["store write", "store skip"], store: store, transport: transport)
    let writer = try await client(plugin, caches: ["store write"], store: store, transport: transport)
    await #expect(throws: RequestChainError.self) { try await run(reader, .cacheOnly) }
    // Writes run in reverse order: the last cache drops the write, so the cache before it does not see it.
    #expect(try await run(skipper, .cacheFirst).source == .server)
    #expect(try await stored("Kit:1", in: store) == nil)
    #expect(try await run(writer, .cacheFirst).source == .server)
    #expect(try await stored("Kit:1", in: store) == ["answer": Self.answer])
    for policy in [CachePolicy.cacheFirst, .cacheOnly] {
      let found = try await run(reader, policy)
      #expect(found.text == Self.answer)
      #expect(found.source == .cache)
    }
    #expect(transport.requests.count == 2)
  }

  @Test("removing by key and by pattern", arguments: StorePlugin.allCases, ["store remove", "store remove matching"])
  func remove(_ plugin: StorePlugin, _ mode: String) async throws {
    let store = ApolloStore()
    _ = try await run(client(plugin, caches: ["store write"], store: store))
    let other = RecordSet([Record(key: "Kat:1", fields: ["a": Data("1".utf8)])])
    try await store.publish(records: other)
    #expect(try await stored("Kit:1", in: store) != nil)
    _ = try await run(client(plugin, caches: [mode], store: store))
    #expect(try await stored("Kit:1", in: store) == nil)
    #expect(try await stored("Kat:1", in: store) == ["a": "1"])
  }

  @Test("a store in a file is the same to plugins", arguments: StorePlugin.allCases)
  func inFile(_ plugin: StorePlugin) async throws {
    let file = folder.file("\(plugin.rawValue).sqlite").path
    _ = try await run(client(plugin, caches: ["store write"], store: ApolloStore(cache: try SQLiteNormalizedCache(path: file))))
    let again = ApolloStore(cache: try SQLiteNormalizedCache(path: file))
    #expect(try await run(client(plugin, caches: ["store read"], store: again), .cacheOnly).text == Self.answer)
  }

  @Test("without the grant a kit says what is missing, and the result comes all the same", arguments: StorePlugin.allCases)
  func notGranted(_ plugin: StorePlugin) async throws {
    let (store, log) = (ApolloStore(), CacheFailureLog())
    let client = try await client(plugin, caches: ["store read"], store: store, grants: "[fetch]", observer: log)
    #expect(try await run(client, .cacheFirst).source == .server)
    #expect(log.readFailures == 1)
  }

  @Test("a host without a store refuses every operation", arguments: StorePlugin.allCases)
  func noStore(_ plugin: StorePlugin) async throws {
    let log = CacheFailureLog()
    let client = try await client(plugin, caches: ["store read"], store: nil, observer: log)
    #expect(try await run(client, .cacheFirst).source == .server)
    #expect(log.readFailures == 1)
  }

  // MARK: Transactions

  @Test("operations that follow each other see what the ones before did, and the counts are right", .rule("worker-test.19"))
  func chained() async throws {
    let store = ApolloStore()
    #expect(try await run(client(.c, caches: [], graphql: "chained", store: store)).text == Self.answer)
    #expect(try await store.withinReadTransaction { try await $0.keys(matching: "C:*") }.isEmpty)
  }

  @Test("records published together are one change for watchers, and references and numbers keep their types")
  func oneChange() async throws {
    let store = ApolloStore()
    let changes = Mutex<[StoreChange]>([])
    let subscription = store.subscribe { _, change in changes.withLock { $0.append(change) } }
    defer { subscription.cancel() }
    _ = try await run(client(.c, caches: [], graphql: "chained", store: store))
    #expect(
      changes.withLock(\.self) == [
        .keys(["C:1.a", "C:2.a"]), .keys(["C:1.b"]), .keys(["C:2.a"]), .keys(["C:1.a", "C:1.b"]),
      ])
  }

  @Test("fields that are too old are not loaded", .rule("store.7"))
  func ages() async throws {
    for (age, isThere) in [(3600.0, true), (0, false)] {
      let store = ApolloStore(policy: CacheKeyPolicy(maximumAges: ["Kit.answer": age]))
      let record = Record(key: "Kit:1", fields: ["__typename": Data(#""Kit""#.utf8), "answer": Data(Self.answer.utf8)])
      try await store.publish(records: RecordSet([record]))
      let loaded = try await store.currentRecords(forKeys: ["Kit:1", "Kit:2"])
      #expect(loaded.map(\.key) == ["Kit:1"])
      #expect(loaded.first?.names.sorted() == (isThere ? ["__typename", "answer"] : ["__typename"]))
    }
  }

  @Test(
    "a plugin that needs the store inside a transaction gets an error at once and does not wait", .rule("store.4"),
    .timeLimit(.minutes(2)))
  func insideTransaction() async throws {
    let (store, log) = (ApolloStore(), CacheFailureLog())
    let client = try await client(.c, caches: ["store read"], store: store, observer: log)
    let source = try await store.withinReadWriteTransaction { _ in try await run(client, .cacheFirst).source }
    #expect(source == .server)
    #expect(log.readFailures == 1)
  }

  @Test("when a chain goes, its hold on the store goes with it, also that of a plugin that refused to be made")
  func release() async throws {
    weak var released: ApolloStore?
    do {
      let store = ApolloStore()
      released = store
      _ = try await run(client(.c, caches: ["store write"], store: store))
      await #expect(throws: HostError.self) { try await client(.cpp, caches: ["refuse"], store: store) }
    }
    #expect(await eventually { released == nil })
  }

  // MARK: What is refused

  @Test("a violation of the header's rules is refused with its status, and done is not called for it")
  func refusals() async throws {
    let store = ApolloStore()
    let client = try await client(.c, caches: [], graphql: "refusals", store: store)
    let text = try #require(try await run(client).text)
    let data = try JSONValue(parsing: text)["data"]
    #expect(data?["done"] == [-1, -1, -1, -1])
    #expect(data?["who"] == [-3, -3, -3])
    #expect(data?["keys"] == [-1, -1, -1, -1, -1])
    #expect(data?["many"] == [-6, -6, -6, -6])
    #expect(data?["json"] == [-1, -1, -1, -1, -1, -1, -1, -1])
    #expect(data?["large"] == [-6, -6, -6])
    #expect(data?["patterns"] == [-1, -1, -1])
    #expect(data?["good"] == [0, 0, 0])
    try await expectAnswers(3, of: client)
    #expect(try await store.withinReadTransaction { try await $0.keys() }.isEmpty)
    let ungranted = try await self.client(.c, caches: [], graphql: "refusals", store: store, grants: "[]")
    #expect(try await run(ungranted).text == #"{"data":{"granted":false}}"#)
  }

  @Test("an instance has no more than 1,024 operations under way, and each of those is answered", .timeLimit(.minutes(2)))
  func flood() async throws {
    let store = ApolloStore()
    let client = try await client(.c, caches: [], graphql: "flood", store: store)
    // No read runs while a write transaction is open.
    let text = try await store.withinReadWriteTransaction { _ in
      try await Task.detached { try await run(client).text }.value
    }
    #expect(text == #"{"data":{"begun":1024,"status":-6}}"#)
    try await expectAnswers(1024, of: client)
  }

  private func expectAnswers(_ count: Int, of client: ApolloClient) async throws {
    var text: String?
    for _ in 0..<500 {
      text = try await run(client).text
      if text == #"{"data":{"answers":\#(count)}}"# { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(text ?? "nothing")")
  }

  @Test("many calls read, write and remove at once, and none is lost", arguments: StorePlugin.allCases)
  func concurrency(_ plugin: StorePlugin) async throws {
    let store = ApolloStore()
    let clients = [
      try await client(plugin, caches: ["store write"], store: store),
      try await client(plugin, caches: ["store read"], store: store),
      try await client(plugin, caches: ["store remove"], store: store),
    ]
    let texts = try await withThrowingTaskGroup(of: String?.self) { group in
      for number in 0..<150 { group.addTask { try await run(clients[number % 3], .cacheFirst).text } }
      return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(texts == [Self.answer: 150])
  }
}
