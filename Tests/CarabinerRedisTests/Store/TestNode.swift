import Carabiner
import CarabinerRESP
import CarabinerRedis
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

/// The store of one node, with what it logs.
final class TestNode: Sendable {
  let cache: RedisNormalizedCache
  let store: ApolloStore
  let log = LogRecorder()

  /// A node whose reads have time, because the machine of a test may be busy.
  init(_ url: String, policy: CacheKeyPolicy = .default, _ change: (inout RedisStoreSettings) -> Void = { _ in }) throws {
    var connection = RedisSettings(urls: [try RedisURL(url)], node: "test")
    (connection.limits.openingTime, connection.limits.pingTime) = (.seconds(30), .seconds(30))
    var settings = RedisStoreSettings(connection, prefix: "shop")
    settings.policy = policy
    // So reads ask Redis.
    settings.nearRecords = 0
    (settings.readBudget, settings.writeTime, settings.removalTime) = (.seconds(60), .seconds(60), .seconds(60))
    change(&settings)
    cache = try RedisNormalizedCache(settings, logger: log.logger)
    store = ApolloStore(cache: cache, policy: policy)
  }

  /// A node that can read and write.
  static func ready(
    _ server: RedisServer, policy: CacheKeyPolicy = .default, _ change: (inout RedisStoreSettings) -> Void = { _ in }
  ) async throws -> TestNode {
    let node = try TestNode(server.url, policy: policy, change)
    await node.isReady()
    return node
  }

  func isReady() async { #expect(await eventually { cache.isAvailable }, "\(log.lines)") }

  /// Writes the response `{"data": …}` of a query, and waits until it is in Redis.
  func publish(_ data: String, for document: String, _ variables: JSONObject = [:]) async throws {
    let body = try ResponseBody(Data(#"{"data":\#(data)}"#.utf8))
    let records = ApolloStore.records(of: body, operation: DynamicOperation(document: document, variables: variables))
    try await store.publish(records: try #require(records))
    await cache.drained()
  }

  /// The data of a query; nil if some of it is missing.
  func data(_ document: String, _ variables: JSONObject = [:]) async throws -> JSONValue? {
    try await store.load(DynamicOperation(document: document, variables: variables))?.data
  }
}

extension RedisServer {
  /// The keys of the store, sorted.
  func keys() throws -> [String] {
    try ask("--raw", "KEYS", "*").split(separator: "\n").map(String.init).sorted()
  }
}

func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }
