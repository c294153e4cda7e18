import Carabiner
import CarabinerWire
import FoundationEssentials
import Testing

@Suite("Normalised store: limits of roots and bytes")
struct RootLimitTests {
  private static let hero = "query($n: Int) { hero(n: $n) { name home { planet } } }"

  private func fill(_ store: ApolloStore, _ numbers: Range<Int>) async throws {
    for number in numbers {
      try await store.publish(
        #"{"hero":{"name":"\#(number)","home":{"planet":"P"}}}"#, for: .query(Self.hero, ["n": .number(JSONNumber(number))]))
    }
  }

  @Test("the record of a root keeps its newest fields, and objects that only dropped fields had go with them")
  func fields() async throws {
    let cache = InMemoryNormalizedCache(maximumFields: 40)
    let store = ApolloStore(cache: cache)
    try await store.publish(#"{"version":7}"#, for: .query("{ version }"))
    try await fill(store, 0..<1000)
    let root = try #require(try await cache.records(forKeys: ["QUERY_ROOT"])[0])
    #expect((35...40).contains(root.names.count))
    #expect(cache.recordCount <= 1 + 2 * 40)
    #expect(try await store.data(.query(Self.hero, ["n": 999]))?["hero"]?["name"] == "999")
    #expect(try await store.data(.query(Self.hero, ["n": 0])) == nil)
    // Fields without arguments are few, so they are kept however old they are.
    #expect(try await store.data(.query("{ version }")) == ["version": 7])
  }

  @Test("a field that is received again is not old")
  func receivedAgain() async throws {
    let cache = InMemoryNormalizedCache(maximumFields: 16)
    func write(_ number: Int, at time: Int64) async throws {
      var record = Record(key: "QUERY_ROOT", fields: [:])
      record.set("f(n:\(number))", to: [UInt8(ascii: "1")], received: time)
      _ = try await cache.merge(records: RecordSet([record]))
    }
    for number in 0..<100 {
      try await write(number, at: Int64(number))
      try await write(0, at: Int64(number))
    }
    #expect(try await cache.records(forKeys: ["QUERY_ROOT"])[0]?["f(n:0)"] != nil)
  }

  @Test("fields with many distinct arguments are counted in bytes, their names included")
  func bytes() async throws {
    let cache = InMemoryNormalizedCache(maximumBytes: 50_000, maximumFields: 100_000)
    let store = ApolloStore(cache: cache)
    for number in 0..<2000 {
      try await store.publish(#"{"f":1}"#, for: .query("query($n: String) { f(n: $n) }", ["n": .string("argument \(number)")]))
    }
    #expect(cache.byteCount <= 50_000)
    let root = try await cache.records(forKeys: ["QUERY_ROOT"])[0]
    #expect((root?.names.count ?? 0) * 40 <= 50_000)
  }

  @Test("a mutation's root and objects with arguments have the same limit")
  func otherRecords() async throws {
    let cache = InMemoryNormalizedCache(maximumFields: 20)
    let store = ApolloStore(cache: cache)
    for number in 0..<200 {
      try await store.publish(
        #"{"add":1}"#,
        for: DynamicOperation(
          document: "mutation($n: Int) { add(n: $n) }", operationType: .mutation, variables: ["n": .number(JSONNumber(number))]))
      try await store.publish(
        #"{"me":{"__typename":"User","id":1,"posts":1}}"#,
        for: .query("query($n: Int) { me { __typename id posts(after: $n) } }", ["n": .number(JSONNumber(number))]))
    }
    for record in try await cache.records(forKeys: ["MUTATION_ROOT", "User:1"]) {
      #expect((record?.names.count ?? .max) <= 20)
    }
    #expect(try await cache.records(forKeys: ["User:1"])[0]?["id"] != nil)
  }
}
