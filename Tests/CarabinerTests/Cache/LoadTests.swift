import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Normalised store: loading")
struct LoadTests {
  private let store = ApolloStore()

  @Test(
    "a missing field is a miss, at the root, in an object and in a list", .rule("store.3"),
    arguments: [
      "{ hero { name } }", "{ hero { id } other }", "{ list { a b } }", "{ hero(x: 1) { id } }",
    ])
  func missing(_ document: String) async throws {
    try await store.publish(
      #"{"hero":{"id":1},"list":[{"a":1},{"a":2}]}"#, for: .query("{ hero { id } list { a } }"))
    #expect(try await store.data(.query("{ hero { id } list { a } }")) != nil)
    #expect(try await store.data(.query(document)) == nil)
  }

  @Test("null is a value", .rule("store.3"))
  func null() async throws {
    let query = DynamicOperation.query("{ hero { id friends { name } } a }")
    let data = #"{"hero":{"id":null,"friends":[null,{"name":null}]},"a":null}"#
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
  }

  @Test("a field the server left out is a miss and not null", .rule("store.3"))
  func leftOut() async throws {
    let query = DynamicOperation.query("{ a b }")
    try await store.publish(#"{"a":1}"#, for: query)
    #expect(try await store.data(query) == nil)
    #expect(try await store.data(.query("{ a }")) == ["a": 1])
  }

  @Test("null where the type has no null is an error", .rule("store.3"))
  func nullForNonNull() async throws {
    struct Strict: GraphQLQuery {
      struct Data: Codable, Sendable { var name: String }
      var operationName: String? { nil }
      var document: String { "{ name }" }
    }
    try await store.publish(#"{"name":null}"#, for: .query("{ name }"))
    let response = try #require(try await store.load(Strict()))
    let error = #expect(throws: ResponseParsingError.self) { try response.data }
    #expect(error?.code == .dataMismatch)
  }

  @Test("the operation of one query reads what another wrote, newer values winning", .rule("store.3"))
  func acrossOperations() async throws {
    try await store.publish(
      #"{"hero":{"__typename":"H","id":1,"name":"old"}}"#, for: .query("{ hero { __typename id name } }"))
    try await store.publish(
      #"{"all":[{"__typename":"H","id":1,"name":"new","mass":3}]}"#, for: .query("{ all { __typename id name mass } }"))
    #expect(try await store.data(.query("{ hero { name mass } }")) == ["hero": ["name": "new", "mass": 3]])
  }

  @Test("an object whose record was removed is a miss", .rule("store.3"))
  func danglingReference() async throws {
    let query = DynamicOperation.query("{ hero { __typename id } }")
    try await store.publish(#"{"hero":{"__typename":"H","id":1}}"#, for: query)
    try await store.cache.removeRecord(for: "H:1")
    #expect(try await store.data(query) == nil)
  }

  @Test("a record that holds no reference where one must be is an error that names it", .rule("store.3"))
  func malformed() async throws {
    try await store.publish(
      records: RecordSet([Record(key: "QUERY_ROOT", fields: ["hero": Data(#"{"name":1}"#.utf8)])]))
    let error = await #expect(throws: StoreError.self) { try await store.load(DynamicOperation.query("{ hero { name } }")) }
    #expect(error?.code == .malformedRecord)
    #expect(error?.message.contains("QUERY_ROOT") == true)
  }

  @Test("fields come back in the order they were asked for, whatever order the server chose", .rule("store.3"))
  func order() async throws {
    let query = DynamicOperation.query("{ a b { c d } e }")
    try await store.publish(#"{"e":5,"b":{"d":4,"c":3},"a":1}"#, for: query)
    let body = try #require(try await store.load(query)).body
    #expect(String(decoding: body.bytes, as: UTF8.self) == #"{"data":{"a":1,"b":{"c":3,"d":4},"e":5}}"#)
    #expect(body.data.map { String(decoding: $0, as: UTF8.self) } == #"{"a":1,"b":{"c":3,"d":4},"e":5}"#)
  }

  @Test("a name that comes twice in an object has its last value")
  func duplicates() async throws {
    try await store.publish(#"{"a":1,"b":2,"a":3}"#, for: .query("{ a b }"))
    #expect(try await store.data(.query("{ a b }")) == ["a": 3, "b": 2])
  }

  @Test("500 levels are taken apart and put together")
  func deep() async throws {
    let document = "{ n { ...N } } fragment N on N { v n { ...N } }"
    let data =
      String(repeating: #"{"n":"#, count: 1) + String(repeating: #"{"v":1,"n":"#, count: 500) + "null"
      + String(repeating: "}", count: 501)
    try await store.publish(data, for: .query(document))
    #expect(try await store.data(.query(document)) == json(data))
  }
}
