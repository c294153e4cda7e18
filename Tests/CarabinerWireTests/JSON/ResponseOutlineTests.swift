import CJSON
import CarabinerWire
import JSONReference
import TestTools
import Testing

@Suite("A response that is followed in pieces")
struct ResponseOutlineTests {
  /// The result of following a text to its end.
  private struct Verdict: Equatable {
    var isResponse: Bool
    var hasErrors: Bool
  }

  /// Follows a text in pieces of a length, each in memory of its own.
  private static func verdict(of text: [UInt8], inPiecesOf length: Int) -> Verdict? {
    var outline = ResponseOutline()
    for start in stride(from: 0, to: text.count, by: length) {
      let piece = Array(text[start..<min(start + length, text.count)])
      guard outline.follow(piece.span) else { return nil }
    }
    return Verdict(isResponse: outline.isResponse, hasErrors: outline.hasErrors)
  }

  private static let lengths = [1, 2, 3, 7, 63, 64, 65, 200, 100_000]

  @Test(
    "a response is recognised at every cut, and its errors are noticed",
    arguments: [
      (#"{"data":{}}"#, false), (#" {"data" : null }  "#, false), (#"{"errors":[{"message":"x"}]}"#, true),
      (#"{"data":{"a":[1,{"b":"}\"]"}]},"extensions":{"c":[]}}"#, false), (#"{"data":{},"errors":[]}"#, false),
      (#"{"data":null,"errors":null}"#, false), (#"{"errors":[ {} ],"data":{}}"#, true),
      (#"{"extensions":12.5e+3,"x":"\\","y":true,"data":{"t":"\\\\\""}}"#, false), (#"{"d\u0061ta":{}}"#, false),
      (#"{"data":{"errors":[{"a":1}]}}"#, false),
      (#"{"data":{"text":""# + String(repeating: "ä\\\\\\\"", count: 500) + #""}}"#, false),
      (String(repeating: " ", count: 300) + #"{"data":{"list":["# + String(repeating: "{},", count: 99) + "[]]}}", false),
    ])
  func responses(_ text: String, _ hasErrors: Bool) {
    for length in Self.lengths {
      #expect(
        Self.verdict(of: Array(text.utf8), inPiecesOf: length) == Verdict(isResponse: true, hasErrors: hasErrors),
        "in pieces of \(length)")
    }
  }

  @Test(
    "a text that is none is refused at every cut",
    arguments: [
      "", " ", "[]", "null", "12", "\"data\"", "{", "{}", #"{"a":1}"#, #"{"data":1}"#, #"{"data":"x"}"#, #"{"data":[]}"#,
      #"{"data":nul}"#, #"{"data":true}"#, #"{"errors":{}}"#, #"{"errors":[]}"#, #"{"errors":"x"}"#, #"{"data":{}"#,
      #"{"data":{]}"#, #"{"data":{}}}"#, #"{"data":{}} x"#, #"{"data":{}}{}"#, #"{"data":{},}"#, #"{"data":{} "a":1}"#,
      #"{"data" {}}"#, #"{"data"::{}}"#, #"{,"data":{}}"#, #"{"data":{},"a"}"#, #"{"data":{},a:1}"#, #"{"data":{},"a":}"#,
      #"{"data":{},"a":1 2}"#, #"{"data":{"a":"b}}"#, #"{"data":{"a":"b\"}}"#, "\u{FEFF}{\"data\":{}}", #"{"data":{"a":[}]}}"#,
    ])
  func others(_ text: String) {
    for length in Self.lengths {
      #expect(Self.verdict(of: Array(text.utf8), inPiecesOf: length)?.isResponse != true, "in pieces of \(length)")
    }
  }

  @Test("a response may be nested as deeply as its limit says, and not deeper")
  func depth() {
    for (depth, isAllowed) in [(511, true), (512, false)] {
      let text = #"{"data":{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}}"
      #expect((Self.verdict(of: Array(text.utf8), inPiecesOf: 64)?.isResponse == true) == isAllowed, "\(depth)")
    }
  }

  @Test("every text that is parsed as a response is followed to its end, in both variants")
  func agreement() throws {
    var random = SeededGenerator(seed: 42)
    for _ in 0..<2_000 {
      let value = Self.value(depth: 5, &random)
      var object: JSONObject = [:]
      for name in ["extensions", "data", "errors", "other"].shuffled(using: &random) {
        switch name {
        case "data": object[name] = Bool.random(using: &random) ? .object(["a": value]) : .null
        case "errors" where Bool.random(using: &random): object[name] = .array([.object(["message": value])])
        case "extensions", "other": if Bool.random(using: &random) { object[name] = value }
        default: break
        }
      }
      let text = JSONValue.object(object).serialized()
      let expected = Verdict(isResponse: true, hasErrors: object["errors"] != nil)
      let length = Int.random(in: 1...150, using: &random)
      #expect(Self.verdict(of: text, inPiecesOf: length) == expected)
      var (best, portable) = (CJSON_outline(), CJSON_outline())
      unsafe CJSON_begin(&best, 512)
      unsafe CJSON_begin(&portable, 512)
      // One byte is another one, so that texts are malformed in many ways.
      var changed = text
      changed[Int.random(in: 0..<text.count, using: &random)] = Array(#"{}[]",:\ x"#.utf8).randomElement(using: &random) ?? 0
      for start in stride(from: 0, to: changed.count, by: length) {
        let piece = Array(changed[start..<min(start + length, changed.count)])
        let accepted = unsafe (
          CJSON_follow(&best, piece, piece.count), CJSON_follow_portable(&portable, piece, piece.count)
        )
        #expect(accepted.0 == accepted.1)
        #expect((best.isClosed, best.hasErrors, best.depth) == (portable.isClosed, portable.hasErrors, portable.depth))
        guard accepted.0 else { break }
      }
    }
  }

  private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &random) {
    case 0: .null
    case 1: .bool(true)
    case 2:
      .string(
        String(
          repeating: ["a", "\"", "\\", "}", "]", "ü", "\n"].randomElement(using: &random) ?? "",
          count: Int.random(in: 0...70, using: &random)))
    case 3: .number(JSONNumber(Int.random(in: -9999...9999, using: &random)))
    case 4: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth - 1, &random) })
    default:
      .object(
        (0..<Int.random(in: 0...4, using: &random)).reduce(into: [:]) { $0["m\($1)"] = value(depth: depth - 1, &random) })
    }
  }
}
