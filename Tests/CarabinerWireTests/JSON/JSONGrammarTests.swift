import CarabinerWire
import TestTools
import Testing

@Suite("JSON is RFC 8259, strictly", .rule("json.1"))
struct JSONGrammarTests {
  @Test(
    "these texts are JSON",
    arguments: [
      ("null", JSONValue.null), ("true", true), ("false", false), (" \t\r\n0 ", 0), ("-1", -1), ("\"\"", ""),
      ("[]", []), ("{}", [:]), ("[ ]", []), ("{ }", [:]), ("[1,2]", [1, 2]), ("[[],{}]", [[], [:]]),
      ("{\"a\":{\"b\":[null]}}", ["a": ["b": [nil]]]), ("{\"\":0}", ["": 0]),
      (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")),
      (#""\u0000\u00e9\u20AC\ud83D\ude00""#, .string("\0é€😀")), (#""é€😀\#u{7f}""#, .string("é€😀\u{7f}")),
      (#""\u005c\u0022""#, .string("\\\"")), (#"{"\u0061":1}"#, ["a": 1]),
    ] as [(String, JSONValue)])
  func accepted(text: String, expected: JSONValue) throws {
    let tree = try JSONTree(parsing: text.utf8Span.span)
    #expect(tree.value == expected)
    #expect(tree.duplicates == 0)
    _ = try JSONMembers(locating: text.utf8Span.span)
  }

  @Test(
    "these texts are refused, at the right byte",
    arguments: [
      ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
      ("[1,", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1), ("{\"a", .unexpectedEnd, 3),
      ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5), ("{\"a\":1", .unexpectedEnd, 6),
      ("\"", .unexpectedEnd, 1), ("\"\\", .unexpectedEnd, 2), ("\"\\u12", .unexpectedEnd, 5),
      ("\"\\ud800", .unexpectedEnd, 7), ("\"\\ud800\\", .unexpectedEnd, 8), ("tru", .unexpectedEnd, 3),
      ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2),
      ("1e+", .unexpectedEnd, 3),
      ("]", .unexpectedByte, 0), ("[1 2]", .unexpectedByte, 3), ("[1,]", .unexpectedByte, 3),
      ("[,1]", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2), ("{\"a\":1]", .unexpectedByte, 6),
      ("{a:1}", .unexpectedByte, 1), ("{1:1}", .unexpectedByte, 1), ("{\"a\" 1}", .unexpectedByte, 5),
      ("{\"a\":1,}", .unexpectedByte, 7), ("{,}", .unexpectedByte, 1), ("{\"a\":}", .unexpectedByte, 5),
      ("nul!", .unexpectedByte, 0), ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0),
      ("Infinity", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0), ("+1", .unexpectedByte, 0),
      (".5", .unexpectedByte, 0), ("/* */1", .unexpectedByte, 0), ("\u{c}1", .unexpectedByte, 0),
      ("\u{a0}1", .unexpectedByte, 0), ("[1\u{b}]", .unexpectedByte, 2),
      ("-NaN", .invalidNumber, 0), ("[01]", .invalidNumber, 1), ("-01", .invalidNumber, 0),
      ("00", .invalidNumber, 0), ("[1.]", .invalidNumber, 1), ("[1e]", .invalidNumber, 1),
      ("[1.e1]", .invalidNumber, 1), ("[-]", .invalidNumber, 1), ("[1e+]", .invalidNumber, 1),
      ("0x10", .trailingBytes, 1), ("1 2", .trailingBytes, 2), ("{}{}", .trailingBytes, 2),
      ("null\0", .trailingBytes, 4), ("1.5.5", .trailingBytes, 3), ("[]]", .trailingBytes, 2),
      ("\"a\nb\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1),
      ("\"é\u{1f}\"", .controlCharacter, 3),
      ("{\"\t\":1}", .controlCharacter, 2), ("\"\\x41\"", .invalidEscape, 1), ("\"\\'\"", .invalidEscape, 1),
      ("\"\\u12g4\"", .invalidEscape, 1), ("\"\\U0041\"", .invalidEscape, 1),
      ("\"\\u+123\"", .invalidEscape, 1),
      ("\"\\ud800\"", .loneSurrogate, 1), ("\"a\\udc00\"", .loneSurrogate, 2),
      ("\"\\ud800\\ud800\"", .loneSurrogate, 1), ("\"\\ud800\\n\"", .loneSurrogate, 1),
      ("\"\\ud800x\"", .loneSurrogate, 1), ("\"\\udfff\\udfff\"", .loneSurrogate, 1),
      ("\"\\udbff", .unexpectedEnd, 7), ("\"\\udfff", .loneSurrogate, 1),
      ("\u{feff}{}", .byteOrderMark, 0),
    ] as [(String, JSONError.Code, Int)])
  func refused(text: String, code: JSONError.Code, offset: Int) {
    expectRefusal(of: Array(text.utf8), code, at: offset)
  }

  @Test(
    "malformed UTF-8 is refused, at the first byte of the character",
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
      [0xE0, 0x9F, 0xBF],
      [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x28],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ] as [[UInt8]])
  func malformedUTF8(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    expectRefusal(of: [quote, 0x61] + bytes + [quote], .invalidUTF8, at: 2)
    expectRefusal(of: [quote, 0x61] + bytes, .invalidUTF8, at: 2)
  }

  @Test("the ends of every range of well-formed UTF-8 are accepted")
  func wellFormedUTF8() throws {
    let scalars: [UInt32] = [
      0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF,
      0x40000, 0xFFFFF, 0x100000, 0x10FFFF,
    ]
    let string = String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init)))
    #expect(string.unicodeScalars.count == scalars.count)
    #expect(try JSONValue(parsing: "\"\(string)\"") == .string(string))
  }

  @Test("a fault says what and where")
  func description() {
    #expect(throws: JSONError(.trailingBytes, at: 2, "something follows the end of the value")) {
      try JSONValue(parsing: "1 2")
    }
    let error = JSONError(.trailingBytes, at: 2, "something follows the end of the value")
    #expect("\(error)" == "something follows the end of the value at byte 2")
  }
}

/// Checks that both readers refuse the text for the same reason at the same place.
func expectRefusal(
  of bytes: [UInt8], _ code: JSONError.Code, at offset: Int, limits: JSONLimits = JSONLimits(),
  sourceLocation: SourceLocation = #_sourceLocation
) {
  do throws(JSONError) {
    let value = try JSONValue(parsing: bytes, limits: limits)
    Issue.record("was read as \(value)", sourceLocation: sourceLocation)
  } catch {
    #expect(error.code == code, sourceLocation: sourceLocation)
    #expect(error.offset == offset, sourceLocation: sourceLocation)
  }
  do throws(JSONError) {
    let members = try JSONMembers(locating: bytes.span, limits: limits)
    Issue.record("was read as \(members)", sourceLocation: sourceLocation)
  } catch {
    #expect(error.code == code, sourceLocation: sourceLocation)
    #expect(error.offset == offset, sourceLocation: sourceLocation)
  }
}
