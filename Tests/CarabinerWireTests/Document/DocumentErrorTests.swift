import CarabinerWire
import Testing

@Suite("Texts that are not executable documents are refused, with line and column")
struct DocumentErrorTests {
  @Test(
    "syntax errors",
    arguments: [
      ("", .unexpectedEnd, 1, 1), (" #only\n", .unexpectedEnd, 2, 1), ("{", .unexpectedEnd, 1, 2),
      ("{}", .unexpectedToken, 1, 2), ("{a", .unexpectedEnd, 1, 3), ("{a}}", .unexpectedToken, 1, 4),
      ("query", .unexpectedEnd, 1, 6), ("query Q", .unexpectedEnd, 1, 8),
      ("query ($a) {a}", .unexpectedToken, 1, 10),
      ("query () {a}", .unexpectedToken, 1, 8), ("query ($a: 1) {a}", .unexpectedToken, 1, 12),
      ("query ($a: [Int) {a}", .unexpectedToken, 1, 16), ("query ($a: Int!!) {a}", .unexpectedToken, 1, 16),
      ("query ($a: Int = $b) {a}", .unexpectedToken, 1, 18),
      ("query ($a: Int = [$b]) {a}", .unexpectedToken, 1, 19),
      ("query ($a: Int @d(x: $b)) {a}", .unexpectedToken, 1, 22), ("{a()}", .unexpectedToken, 1, 4),
      ("{a(b)}", .unexpectedToken, 1, 5), ("{a(b:)}", .unexpectedToken, 1, 6),
      ("{a(b:1}", .unexpectedToken, 1, 7),
      ("{a: }", .unexpectedToken, 1, 5), ("{a:b:c}", .unexpectedToken, 1, 5),
      ("{a b:[}", .unexpectedToken, 1, 6),
      ("{a(b:[1)}", .unexpectedToken, 1, 8), ("{a(b:{c})}", .unexpectedToken, 1, 8),
      ("{...}", .unexpectedToken, 1, 5),
      ("{... on}", .unexpectedToken, 1, 8), ("{... on T}", .unexpectedToken, 1, 10),
      ("{a @}", .unexpectedToken, 1, 5),
      ("fragment on on T {a}", .unexpectedToken, 1, 10), ("fragment F {a}", .unexpectedToken, 1, 12),
      ("fragment F on {a}", .unexpectedToken, 1, 15), ("fragment F on T", .unexpectedEnd, 1, 16),
      ("fragment F($a: Int) on T {a}", .unexpectedToken, 1, 11),
      ("notAnOperation {a}", .unexpectedToken, 1, 1),
      ("Query {a}", .unexpectedToken, 1, 1), ("{a & b}", .unexpectedToken, 1, 4),
      ("{a | b}", .unexpectedToken, 1, 4),
      ("{a(b:&)}", .unexpectedToken, 1, 6), ("\"text\" {a}", .unexpectedToken, 1, 8),
      ("query 1 {a}", .unexpectedToken, 1, 7),
      ("type T {a: Int}", .notExecutable, 1, 1), ("{a}\nextend type T {a: Int}", .notExecutable, 2, 1),
      ("{a .. b}", .invalidCharacter, 1, 4), ("{a ? b}", .invalidCharacter, 1, 4),
      ("{é}", .invalidCharacter, 1, 2),
      ("{a(b:'c')}", .invalidCharacter, 1, 6), ("{a\0}", .invalidCharacter, 1, 3),
      ("{a\u{a0}}", .invalidCharacter, 1, 3),
      ("{a(b:01)}", .invalidNumber, 1, 6), ("{a(b:-)}", .invalidNumber, 1, 6),
      ("{a(b:1.)}", .invalidNumber, 1, 6),
      ("{a(b:1e)}", .invalidNumber, 1, 6), ("{a(b:1x)}", .invalidNumber, 1, 7),
      ("{a(b:1.5.2)}", .invalidNumber, 1, 9),
      ("{a(b:0x1)}", .invalidNumber, 1, 7), ("{a(b:1_0)}", .invalidNumber, 1, 7),
      ("{a(b:.5)}", .invalidCharacter, 1, 6),
      ("{a(b:+1)}", .invalidCharacter, 1, 6), ("{a(b:1", .unexpectedEnd, 1, 7),
      ("{a(b:1.", .unexpectedEnd, 1, 6),
      ("{a(b:\"c)}", .unterminatedString, 1, 6), ("{a(b:\"c\n\")}", .unterminatedString, 1, 6),
      ("{a(b:\"c\r\")}", .unterminatedString, 1, 6), ("{a(b:\"\"\"c\"\")}", .unterminatedString, 1, 6),
      ("{a(b:\"\"\"c\\\"\"\")}", .unterminatedString, 1, 6),
      (#"{a(b:"\x")}"#, .invalidEscape, 1, 7), (#"{a(b:"\u12g4")}"#, .invalidEscape, 1, 7),
      (#"{a(b:"\uD800")}"#, .invalidEscape, 1, 7), (#"{a(b:"\uDC00\uD800")}"#, .invalidEscape, 1, 7),
      (#"{a(b:"\uD83D\u0041")}"#, .invalidEscape, 1, 7), (#"{a(b:"\u{}")}"#, .invalidEscape, 1, 7),
      (#"{a(b:"\u{110000}")}"#, .invalidEscape, 1, 7), (#"{a(b:"\u{D800}")}"#, .invalidEscape, 1, 7),
      (#"{a(b:"\u{000000041}")}"#, .invalidEscape, 1, 7), (#"{a(b:"\u{41")}"#, .invalidEscape, 1, 7),
      ("{a(b:\"\\", .invalidEscape, 1, 7),
    ] as [(String, GraphQLSyntaxError.Code, Int, Int)])
  func refused(text: String, code: GraphQLSyntaxError.Code, line: Int, column: Int) throws {
    let error = try #require(throws: GraphQLSyntaxError.self) { try GraphQLDocument(parsing: text) }
    #expect(error.code == code)
    #expect(error.line == line)
    #expect(error.column == column)
    #expect(error.description.hasSuffix("at line \(line), column \(column)"))
  }

  @Test("lines end with LF, CR or CR LF; columns count characters; the offset counts bytes")
  func places() throws {
    let error = try #require(throws: GraphQLSyntaxError.self) {
      try GraphQLDocument(parsing: "{ #é\r\n a\r b\n\n \"é😀\" ?")
    }
    #expect(error.line == 5)
    #expect(error.column == 2)
    #expect(error.offset == 15)
    #expect(error.description == "expected a field or a fragment, found a string at line 5, column 2")
  }

  @Test(
    "malformed UTF-8 is refused at any place",
    arguments: [("{a #", "\n}", 4), ("{a(b:\"", "\")}", 6), ("{a(b:\"\"\"", "\"\"\")}", 8), ("{a ", "}", 3)])
  func malformedUTF8(before: String, after: String, offset: Int) throws {
    for malformed: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98]] {
      let bytes = Array(before.utf8) + malformed + Array(after.utf8)
      let error = try #require(throws: GraphQLSyntaxError.self) { try GraphQLDocument(parsing: bytes.span) }
      #expect(error.code == .invalidUTF8)
      #expect(error.offset == offset)
    }
  }
}
