import CarabinerWire
import Testing

@Suite("JSON pointers are RFC 6901")
struct JSONPointerTests {
  @Test(
    "the examples of the RFC point where it says",
    arguments: [
      ("", nil), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2),
      ("/e^f", 3),
      ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7), ("/m~0n", 8),
    ] as [(String, JSONValue?)])
  func examples(text: String, expected: JSONValue?) throws {
    let document: JSONValue = [
      "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7,
      "m~n": 8,
    ]
    let pointer = try #require(JSONPointer(text))
    #expect(pointer.description == text)
    #expect(document[pointer: pointer] == expected ?? document)
  }

  @Test(
    "a pointer to no value returns nil",
    arguments: ["/a/2", "/a/-", "/a/01", "/a/+1", "/a/-0", "/b", "/a/0/x", "/a/1/0"])
  func nowhere(text: String) throws {
    let document: JSONValue = ["a": [1, [:]]]
    let pointer = try #require(JSONPointer(text))
    #expect(document[pointer: pointer] == nil)
  }

  @Test("malformed pointers are refused", arguments: ["a", "#/a", "/a~", "/~2", "/a~b/c", " /a"])
  func malformed(text: String) {
    #expect(JSONPointer(text) == nil)
  }

  @Test("pointers are built step by step and escaped, whatever follows the slash")
  func building() {
    let pointer = JSONPointer().appending("a/b").appending(3).appending("~1").appending("/\u{301}")
    #expect(pointer.description == "/a~1b/3/~01/~1\u{301}")
    #expect(JSONPointer(pointer.description) == pointer)
    #expect(pointer == ["a/b", "3", "~1", "/\u{301}"])
    #expect(JSONPointer().description == "")
  }
}
