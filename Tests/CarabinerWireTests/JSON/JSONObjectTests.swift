import CarabinerWire
import TestTools
import Testing

@Suite("Objects keep their order, and of duplicate keys the last wins", .rule("json.1"))
struct JSONObjectTests {
  @Test("key order is kept, in small and in large objects", arguments: [1, 5, 11, 12, 13, 40, 1000])
  func order(count: Int) throws {
    let keys = (0..<count).map { "key\(($0 * 7919) % 100_003)" }
    let text = "{" + keys.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}"
    let object = try #require(try JSONValue(parsing: text).object)
    #expect(object.keys == keys)
    #expect(JSONValue.object(object).description == text)
    for (position, key) in keys.enumerated() { #expect(object[key]?.int == position) }
    #expect(object["none"] == nil)
    #expect(!object.contains("none"))
  }

  @Test("objects of a list may be alike, nearly alike, or not at all")
  func lists() throws {
    let objects = [
      #"{"a":1,"b":{"c":2,"d":3}}"#, #"{"a":4,"b":{"c":5,"d":6}}"#, #"{"a":7}"#, "{}", #"{"a":8,"b":{"d":9,"c":10},"e":11}"#,
      #"{"a":12,"b":{"d":13,"c":14,"f":15},"e":16}"#, #"{"b":17,"a":18}"#, #"{"b":19,"a":{"f":[{"b":20}]}}"#,
      #"{"b":21,"a":{"f":[{"b":22},{"b":23,"c":24}]}}"#,
    ]
    let text = "[\(objects.joined(separator: ","))]"
    let tree = try JSONTree(parsing: text.utf8Span.span)
    #expect(tree.value.description == text)
    #expect(tree.duplicates == 0)
    for (place, object) in objects.enumerated() { #expect(try tree.value[place] == JSONValue(parsing: object)) }
    let twice = try JSONTree(parsing: #"[{"a":1,"b":2},{"a":1,"b":2,"a":3},{"a":4,"\u0061":5},{"a":6,"b":7}]"#.utf8Span.span)
    #expect(twice.duplicates == 2)
    #expect(twice.value == [["a": 1, "b": 2], ["a": 3, "b": 2], ["a": 5], ["a": 6, "b": 7]])
  }

  @Test(
    "of duplicates the last wins, in the place of the first, and they are counted", arguments: [0, 5, 20])
  func duplicates(others: Int) throws {
    let middle = (0..<others).map { ",\"k\($0)\":\($0)" }.joined()
    let text = "{\"a\":1\(middle),\"b\":2,\"a\":[3],\"\\u0061\":4,\"b\":5}"
    let tree = try JSONTree(parsing: text.utf8Span.span)
    #expect(tree.duplicates == 3)
    #expect(tree.value["a"] == 4)
    #expect(tree.value["b"] == 5)
    #expect(tree.value.object?.keys.first == "a")
    #expect(tree.value.object?.keys.last == "b")
    #expect(tree.value.object?.count == others + 2)

    let members = try JSONMembers(locating: text.utf8Span.span)
    #expect(members.duplicates == 3)
    #expect(members.names == tree.value.object?.keys)
    #expect(members.range(of: "a").map { Array(text.utf8)[$0] } == [UInt8(ascii: "4")])
  }

  @Test("duplicates in inner objects are counted by the tree")
  func innerDuplicates() throws {
    let text = #"[{"a":1,"a":2},{"b":{"c":1,"c":1,"c":1}}]"#
    #expect(try JSONTree(parsing: text.utf8Span.span).duplicates == 3)
    #expect(try JSONMembers(locating: text.utf8Span.span).duplicates == 0)
  }

  @Test("two spellings of a letter are two keys, as their bytes differ", arguments: [0, 20])
  func canonicalEquivalence(others: Int) throws {
    let middle = (0..<others).map { "\"k\($0)\":\($0)," }.joined()
    let text = "{\(middle)\"\u{e9}\":1,\"e\u{301}\":2}"
    let tree = try JSONTree(parsing: text.utf8Span.span)
    #expect(tree.duplicates == 0)
    #expect(tree.value["\u{e9}"] == 1)
    #expect(tree.value["e\u{301}"] == 2)
    #expect(JSONValue.string("\u{e9}") != JSONValue.string("e\u{301}"))
    #expect(try JSONMembers(locating: text.utf8Span.span).names.count == others + 2)
  }

  @Test("members can be set, replaced and removed", arguments: [3, 12, 30])
  func editing(count: Int) {
    var object = JSONObject((0..<count).map { (key: "k\($0)", value: .number(JSONNumber($0))) })
    object["k1"] = "one"
    object["new"] = nil
    object["last"] = true
    object["k0"] = nil
    #expect(object.keys == (1..<count).map { "k\($0)" } + ["last"])
    #expect(object["k1"] == "one")
    #expect(object["k0"] == nil)
    #expect(object["last"] == true)
    #expect(object["k\(count - 1)"]?.int == count - 1)
    for key in object.keys { object[key] = nil }
    #expect(object.isEmpty)
    object["again"] = 1
    #expect(object["again"] == 1)
  }

  @Test("equality and hash do not depend on the order")
  func equality() {
    let one: JSONObject = ["a": 1, "b": [2, nil]]
    let other: JSONObject = ["b": [2, nil], "a": 1]
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": 1, "b": [2, 0]])
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "c": [2, nil]])
  }

  @Test("100,000 members take time in proportion to their number")
  func largeObject() throws {
    let count = 100_000
    let text = "{" + (0..<count).map { "\"member number \($0)\":\($0)" }.joined(separator: ",") + "}"
    let object = try #require(try JSONValue(parsing: text).object)
    #expect(object.count == count)
    #expect(object["member number 99999"]?.int == 99_999)
    let members = try JSONMembers(locating: text.utf8Span.span)
    #expect(members.names.count == count)
    #expect(members.range(of: "member number 77777")?.count == 5)
  }
}
