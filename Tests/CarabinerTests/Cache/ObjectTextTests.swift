import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

/// A record is stored as the text of its object if the server's format is the store's own. Results must not depend on this.
@Suite("Normalised store: objects kept as the text they came in")
struct ObjectTextTests {
  private let store = ApolloStore()
  private let plain = DynamicOperation.query("{ item { __typename id name price } }")

  private func written(_ object: String) async throws -> String {
    try await store.publish(#"{"item":\#(object)}"#, for: plain)
    let data = try #require(try await store.load(plain)?.body.data)
    return String(decoding: data, as: UTF8.self)
  }

  @Test(
    "the store answers in its own format for every order and spacing of a response",
    arguments: [
      #"{"__typename":"I","id":1,"name":"a","price":2.50}"#,
      #"{"__typename":"I","id":1,"name":"a", "price":2.50}"#,
      #"{ "__typename" :"I","id":1,"name":"a","price":2.50}"#,
      #"{"__typename":"I","id":1,"name":"a","price":2.50,"extra":{}}"#,
      #"{"extra":[1,2],"__typename":"I","id":1,"name":"a","price":2.50}"#,
      #"{"price":2.50,"name":"a","id":1,"__typename":"I"}"#,
      #"{"__typename":"I","id":1,"name":"a","price":0,"price":2.50}"#,
      #"{"__typename":"I","id":1,"n\u0061me":"a","price":2.50}"#,
    ])
  func formats(_ object: String) async throws {
    #expect(try await written(object) == #"{"item":{"__typename":"I","id":1,"name":"a","price":2.50}}"#)
  }

  @Test("a value without meaning of its own is kept as it was written, spaces and all")
  func rawValues() async throws {
    #expect(
      try await written(#"{"__typename":"I","id":1,"name":"\u0061\n","price":{ "a" : [1, 2] }}"#)
        == #"{"item":{"__typename":"I","id":1,"name":"\u0061\n","price":{ "a" : [1, 2] }}}"#)
  }

  @Test("a field that another operation changes is changed for all")
  func changedElsewhere() async throws {
    _ = try await written(#"{"__typename":"I","id":1,"name":"a","price":2}"#)
    try await store.publish(
      #"{"other":{"__typename":"I","id":1,"title":"much longer than before","price":2}}"#,
      for: .query("{ other { __typename id title: name price } }"))
    #expect(
      try await store.data(plain) == ["item": ["__typename": "I", "id": 1, "name": "much longer than before", "price": 2]])
    // And the reverse, with the operation whose text was stored.
    #expect(try await written(#"{"__typename":"I","id":1,"name":"a","price":2}"#).contains(#""name":"a""#))
    #expect(
      try await store.data(.query("{ other { title: name } }")) == ["other": ["title": "a"]])
  }

  @Test("fields with arguments out of variables do not mix")
  func variables() async throws {
    let document = "query Q($unit: U) { item { __typename id size(unit: $unit) } }"
    let (metres, feet) = (
      DynamicOperation.query(document, name: "Q", ["unit": "M"]), DynamicOperation.query(document, name: "Q", ["unit": "FT"])
    )
    try await store.publish(#"{"item":{"__typename":"I","id":1,"size":1}}"#, for: metres)
    #expect(try await store.data(feet) == nil)
    try await store.publish(#"{"item":{"__typename":"I","id":1,"size":3}}"#, for: feet)
    #expect(try await store.data(metres)?["item"]?["size"] == 1)
    #expect(try await store.data(feet)?["item"]?["size"] == 3)
  }

  @Test("a thousand random writes by operations that share objects leave what a plain dictionary has", arguments: 0..<8)
  func randomWrites(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fields = ["a", "b", "c", "d"]
    var model: [String: [String: Int]] = [:]
    for _ in 0..<1_000 {
      let asked = fields.filter { _ in Bool.random(using: &random) }
      let aliased = Bool.random(using: &random)
      let selection = asked.map { aliased ? "x\($0): \($0)" : $0 }.joined(separator: " ")
      let operation = DynamicOperation.query("{ list { __typename id \(selection) } }")
      var objects: [String] = []
      for id in Set((0..<3).map { _ in Int.random(in: 0..<6, using: &random) }).sorted() {
        var members = ["\"__typename\":\"T\"", "\"id\":\(id)"]
        for field in asked {
          let value = Int.random(in: 0..<1_000, using: &random)
          model["T:\(id)", default: [:]][field] = value
          members.append("\"\(aliased ? "x" : "")\(field)\":\(value)")
        }
        if Bool.random(using: &random) { members.swapAt(0, members.count - 1) }
        objects.append("{" + members.joined(separator: Bool.random(using: &random) ? "," : ", ") + "}")
      }
      let data = "{\"list\":[" + objects.joined(separator: ",") + "]}"
      try await store.publish(data, for: operation)
      #expect(try await store.data(operation) == json(data))
    }
    for (key, values) in model {
      let record = try #require(try await store.record(key))
      for (field, value) in values { #expect(record[field]?.number?.int == value, "\(key).\(field)") }
    }
  }

  @Test(
    "an object of a list is stored like any other, in whatever form it comes after one of the plain form",
    arguments: [
      #"{"__typename":"I","id":2,"name":"b","price":1}"#,
      #"{"__typename":"I","id":"2","name":"b","price":1}"#,
      #"{"__typename":"I","id":"\u0032","name":"b","price":1}"#,
      #"{"__typename":"I", "id":2,"name":"b","price":1}"#,
      #"{"id":2,"__typename":"I","name":"b","price":1}"#,
      #"{"__typename":"I","id":2,"name":"b","price":1,"more":0}"#,
      #"{"__typename":"I","id":1,"id":2,"name":"b","price":1}"#,
    ])
  func lists(_ second: String) async throws {
    let list = DynamicOperation.query("{ items { __typename id name price } }")
    let first = #"{"__typename":"I","id":1,"name":"a","price":0}"#
    try await store.publish(#"{"items":[\#(first),\#(second),null,\#(first)]}"#, for: list)
    let names = try await store.load(list)?.data?.object?["items"]?.array?.map { $0.object?["name"]?.string }
    #expect(names == ["a", "b", nil, "a"])
    #expect(try await store.cache.keys(matching: "I:2") == ["I:2"])
  }
}
