import CarabinerWire
import TestTools
import Testing

@Suite("Members are located without a tree")
struct JSONMembersTests {
  @Test("ranges cover each value exactly")
  func ranges() throws {
    let text = #" { "data" : {"a":[1,{"b":2}]} , "errors":[ ] ,"n":-1.5e3,"s":"x\"}","t":true,"z":null } "#
    let members = try JSONMembers(locating: text.utf8Span.span)
    #expect(members.isObject)
    #expect(members.names == ["data", "errors", "n", "s", "t", "z"])
    let bytes = Array(text.utf8)
    let raw = members.names.map { name in
      members.range(of: name).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
    #expect(raw == [#"{"a":[1,{"b":2}]}"#, "[ ]", "-1.5e3", #""x\"}""#, "true", "null"])
    #expect(members.range(of: "a") == nil)
  }

  @Test(
    "a value that is not an object has no members", arguments: ["null", "1", "\"data\"", "[{\"data\":1}]", "[1,[2]]"])
  func noObject(text: String) throws {
    let members = try JSONMembers(locating: text.utf8Span.span)
    #expect(!members.isObject)
    #expect(members.names.isEmpty)
    #expect(members.range(of: "data") == nil)
  }

  @Test("an empty object is an object")
  func emptyObject() throws {
    let members = try JSONMembers(locating: "{}".utf8Span.span)
    #expect(members.isObject)
    #expect(members.names.isEmpty)
  }

  @Test("located ranges match the tree, in 2,000 random texts")
  func agreesWithTree() throws {
    var random = RandomJSON(seed: 7)
    for _ in 0..<2000 {
      let text = random.text(random.value())
      let value = try JSONValue(parsing: text)
      let members = try JSONMembers(locating: text.utf8Span.span)
      #expect(members.isObject == (value.object != nil))
      #expect(members.names == value.object?.keys ?? [])
      for (key, inner) in value.object ?? [:] {
        let range = try #require(members.range(of: key))
        let raw = Array(text.utf8)[range]
        #expect(try JSONValue(parsing: Array(raw)) == inner)
        #expect(raw.first.map { $0 > 0x20 } == true && raw.last.map { $0 > 0x20 } == true)
      }
    }
  }
}
