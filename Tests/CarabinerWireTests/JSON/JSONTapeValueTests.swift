import CarabinerWire
import TestTools
import Testing

@Suite("Values of a tape are read as trees")
struct JSONTapeValueTests {
  @Test("they match the tree, in 2,000 random texts")
  func agreesWithTree() throws {
    var random = RandomJSON(seed: 11)
    for _ in 0..<2000 {
      let bytes = Array(random.text(random.value()).utf8)
      let tree = try JSONValue(parsing: bytes)
      let tape = try JSONTape(scanning: bytes.span)
      let value = tape.value(at: 0, in: bytes.span)
      #expect(value == tree)
      // Objects are equal in any order of their members, and texts are not.
      #expect(value.serialized() == tree.serialized())
      #expect(tape.isObject == (tree.object != nil))
      for (name, inner) in tree.object ?? [:] {
        let member = tape.member(name, in: bytes.span).map { tape.value(at: $0, in: bytes.span) }
        #expect(member == inner)
      }
      let missing = tape.member("no such name", in: bytes.span)
      #expect(missing == nil)
    }
  }

  @Test(
    "of a repeated name the last value is read",
    arguments: [
      (#"{"a":1,"b":2,"a":3}"#, 3), (#"{"a":{"a":1},"\u0061":4}"#, 4), (#"{"b":{"a":1},"a":5,"c":[{"a":6}]}"#, 5),
    ])
  func repeatedNames(text: String, expected: Int) throws {
    let bytes = Array(text.utf8)
    let tape = try JSONTape(scanning: bytes.span)
    let value = tape.member("a", in: bytes.span).map { tape.value(at: $0, in: bytes.span) }
    #expect(value?.int == expected)
    let whole = tape.value(at: 0, in: bytes.span)
    #expect(whole.object?["a"]?.int == expected)
  }

  @Test("a value that is not an object has no members", arguments: ["null", "1", #""a""#, #"[{"a":1}]"#, "{}"])
  func noMembers(text: String) throws {
    let bytes = Array(text.utf8)
    let tape = try JSONTape(scanning: bytes.span)
    let missing = tape.member("a", in: bytes.span)
    #expect(missing == nil)
    #expect(tape.isObject == (text == "{}"))
  }

  @Test("a tape has an entry for each value and name of the densest texts, of any length")
  func dense() throws {
    for count in [0, 1, 2, 7, 63, 64, 65, 127, 128, 129, 500] {
      let numbers = "[\([String](repeating: "1", count: count).joined(separator: ","))]"
      #expect(try JSONTape(scanning: Array(numbers.utf8).span).entries.count == 1 + count)
      let objects = "[\([String](repeating: "{}", count: count).joined(separator: ","))]"
      #expect(try JSONTape(scanning: Array(objects.utf8).span).entries.count == 1 + count)
      let members = "{\([String](repeating: #""":0"#, count: count).joined(separator: ","))}"
      #expect(try JSONTape(scanning: Array(members.utf8).span).entries.count == 1 + 2 * count)
      let deep = String(repeating: "[", count: count + 1) + String(repeating: "]", count: count + 1)
      #expect(try JSONTape(scanning: Array(deep.utf8).span, limits: .highest).entries.count == count + 1)
      let punctuation = "\"\(String(repeating: ",:{[", count: count))\""
      #expect(try JSONTape(scanning: Array(punctuation.utf8).span).entries.count == 1)
      // The text is cut wherever it may be.
      for end in 0..<min(members.utf8.count, 300) {
        #expect(throws: JSONError.self) { try JSONTape(scanning: Array(members.utf8.prefix(end)).span) }
      }
    }
  }
}
