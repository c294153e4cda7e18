import Carabiner
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

/// The store over a cache that other processes use too.
@Suite("Normalised store: a shared cache")
struct SharedCacheTests {
  private let cache = RoundTripCache()
  private let store: ApolloStore

  init() { store = ApolloStore(cache: cache) }

  @Test("a read that waits for its round trip delays neither a write nor another read", .rule("redis.12"))
  func noLock() async throws {
    try await store.publish(#"{"a":1,"b":2}"#, for: .query("{ a b }"))
    cache.holdNext()
    async let slow = store.data(.query("{ a }"))
    await cache.isHeld()
    try await store.publish(#"{"b":3}"#, for: .query("{ b }"))
    #expect(try await store.data(.query("{ b }")) == ["b": 3])
    #expect(try await store.withinReadTransaction { try await $0.record(for: "QUERY_ROOT")?["b"] } == Array("3".utf8))
    cache.release()
    #expect(try await slow == ["a": 1])
  }

  @Test("transactions of one process still exclude each other", .rule("redis.12"))
  func transactions() async throws {
    try await store.publish(#"{"n":0}"#, for: .query("{ n }"))
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          try await store.update(DynamicOperation.query("{ n }")) { data in
            data = ["n": JSONValue(integerLiteral: (data["n"]?.int ?? 0) + 1)]
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.data(.query("{ n }")) == ["n": 20])
  }

  @Test("a level of a response is one call, which names the fields that the selection needs", .rule("redis.14"))
  func fields() async throws {
    let query = DynamicOperation.query(
      "query($x: Int) { hero(x: $x) { __typename id friends { __typename id name ... on Droid { mass } } } }", ["x": 1])
    try await store.publish(
      #"""
      {"hero":{"__typename":"H","id":1,"friends":[{"__typename":"H","id":2,"name":"a"},{"__typename":"Droid","id":3,"name":"b","mass":4}]}}
      """#, for: query)
    cache.forget()
    #expect(try await store.data(query) != nil)
    let friend = ["__typename", "id", "name", "mass", "... on Droid"]
    #expect(
      cache.rounds == [
        [.init("QUERY_ROOT", ["hero(x:1)"])], [.init("H:1", ["__typename", "id", "friends"])],
        [.init("H:2", friend), .init("Droid:3", friend)],
      ])
  }

  @Test("a cache that is not shared loads whole records by default", .rule("redis.14"))
  func whole() async throws {
    let cache = InMemoryNormalizedCache()
    _ = try await cache.merge(records: RecordSet([Record(key: "a", fields: ["x": .init("1".utf8), "y": .init("2".utf8)])]))
    let records = try await cache.records(for: [("a", ["x"]), ("b", ["x"])])
    #expect(records.map { $0?.names } == [["x", "y"], nil])
  }

  @Test("a shared cache that is not available, or has a malformed record, is a miss", .rule("redis.18"))
  func unavailable() async throws {
    try await store.publish(#"{"a":1}"#, for: .query("{ a }"))
    cache.failure.withLock { $0 = StoreError(.unavailable, "Redis is away") }
    #expect(try await store.data(.query("{ a }")) == nil)
    cache.failure.withLock { $0 = StoreError(.malformedRecord, "no reference") }
    #expect(try await store.data(.query("{ a }")) == nil)
    cache.failure.withLock { $0 = StoreError(.corrupt, "another fault") }
    await #expect(throws: StoreError.self) { try await store.data(.query("{ a }")) }
  }
}

/// A cache that notes each round and may hold one back.
private final class RoundTripCache: NormalizedCache {
  struct Wanted: Hashable {
    let key: String
    let fields: [String]

    init(_ key: String, _ fields: [String]) { (self.key, self.fields) = (key, fields) }
  }

  private struct Gate {
    var holdsNext = false
    var held: CheckedContinuation<Void, Never>?
    var watcher: CheckedContinuation<Void, Never>?
  }

  private let base = InMemoryNormalizedCache()
  private let gate = Mutex(Gate())
  private let asked = Mutex<[[Wanted]]>([])
  let failure = Mutex<StoreError?>(nil)

  var isShared: Bool { true }
  var rounds: [[Wanted]] { asked.withLock { $0 } }

  func forget() { asked.withLock { $0 = [] } }

  func holdNext() { gate.withLock { $0.holdsNext = true } }

  /// Waits until a read is held back.
  func isHeld() async {
    await withCheckedContinuation { continuation in
      let isHeld = gate.withLock { gate in
        if gate.held == nil { gate.watcher = continuation }
        return gate.held != nil
      }
      if isHeld { continuation.resume() }
    }
  }

  func release() { gate.withLock { $0.held.take() }?.resume() }

  func records(for wanted: [(key: String, fields: [String])]) async throws -> [Record?] {
    if let failure = failure.withLock({ $0 }) { throw failure }
    asked.withLock { $0.append(wanted.map { Wanted($0.key, $0.fields) }) }
    if gate.withLock({ $0.holdsNext.exchange(false) }) {
      await withCheckedContinuation { continuation in
        let watcher = gate.withLock { gate in
          gate.held = continuation
          return gate.watcher.take()
        }
        watcher?.resume()
      }
    }
    return try await base.records(for: wanted)
  }

  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { try await base.loadRecords(forKeys: keys) }
  func merge(records: RecordSet) async throws -> ChangedKeys { try await base.merge(records: records) }
  func keys(matching pattern: String?) async throws -> [String] { try await base.keys(matching: pattern) }
  func removeRecord(for key: String) async throws { try await base.removeRecord(for: key) }
  func clear() async throws { try await base.clear() }
}

extension Bool {
  fileprivate mutating func exchange(_ value: Bool) -> Bool {
    defer { self = value }
    return self
  }
}
