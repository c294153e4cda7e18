import CarabinerWire
import TestTools
import Testing

@Suite("How deep JSON may be nested is limited", .rule("json.1"))
struct JSONDepthTests {
  static let openings: [(String, String)] = [
    ("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]"), (" [ [ ", " ] ] "),
  ]

  @Test("the default limit is 512: 512 is accepted, 513 refused where it begins")
  func defaultLimit() throws {
    let deepest = try JSONValue(parsing: nested(512, "[", "]"))
    #expect(depth(of: deepest) == 512)
    expectRefusal(of: Array(nested(513, "[", "]").utf8), .tooDeep, at: 512)
    expectRefusal(of: Array(nested(513, "{\"a\":", "}").utf8), .tooDeep, at: 512 * 5)
  }

  @Test("a limit can be set, but not so high that a value could not be released", arguments: openings)
  func settableLimit(opening: String, closing: String) throws {
    let perOpening = opening.filter { $0 == "[" || $0 == "{" }.count
    let limits = JSONLimits(maximumDepth: 1_000_000)
    #expect(limits.maximumDepth == JSONLimits.highestMaximumDepth)
    for limit in [64, 66, 128, 130, 1024] {
      let count = limit / perOpening
      let text = nested(count, opening, closing)
      let value = try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: count * perOpening))
      #expect(depth(of: value) == count * perOpening)
      #expect(try JSONValue(parsing: value.description, limits: limits) == value)
      #expect(throws: JSONError.self) {
        try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: count * perOpening - 1))
      }
    }
    #expect(JSONLimits(maximumDepth: -5).maximumDepth == 1)
  }

  @Test("a million openings are refused without a stack overflow")
  func hostileDepth() {
    for (opening, _) in Self.openings {
      let bytes = Array(String(repeating: opening, count: 1_000_000).utf8)
      #expect(throws: JSONError.self) {
        try JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: .max))
      }
      #expect(throws: JSONError.self) { try JSONMembers(locating: bytes.span) }
    }
  }

  @Test("containers that are closed do not count")
  func breadth() throws {
    let text = "[" + Array(repeating: "[[{}],{\"a\":[]}]", count: 5000).joined(separator: ",") + "]"
    let value = try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: 4))
    #expect(value.array?.count == 5000)
    #expect(value.description == text)
  }

  private func nested(_ count: Int, _ opening: String, _ closing: String) -> String {
    String(repeating: opening, count: count) + (opening.hasSuffix(":") ? "0" : "")
      + String(repeating: closing, count: count)
  }

  private func depth(of value: JSONValue) -> Int {
    var depth = 0
    var value: JSONValue? = value
    while let inner = value, inner.array != nil || inner.object != nil {
      depth += 1
      value = inner[0] ?? inner["a"]
    }
    return depth
  }
}
