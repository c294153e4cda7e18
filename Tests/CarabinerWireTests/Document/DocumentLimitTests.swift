import CarabinerWire
import Testing

@Suite("How large a document may be is limited")
struct DocumentLimitTests {
  /// The text that opens a level, the innermost text, the text that closes a level, and the text around all levels.
  static let nestings: [(String, String, String, String, String)] = [
    ("", "{a", "", "}", ""), ("{", "...{", "a", "}", "}"), ("{a(b:", "[", "1", "]", ")}"),
    ("{a(b:", "{c:", "1", "}", ")}"), ("query($a:", "[", "T", "]", "){a}"),
    ("query($a:T=", "[", "1", "]", "){a}"),
  ]

  @Test("levels up to the limit are read and printed, one more is refused", arguments: nestings)
  func depth(before: String, open: String, inner: String, close: String, after: String) throws {
    let outer = before.filter { $0 == "{" }.count
    for limit in [GraphQLLimits.defaultMaximumDepth, GraphQLLimits.highestMaximumDepth] {
      let limits = GraphQLLimits(maximumDepth: limit)
      let text = { (levels: Int) in
        before + String(repeating: open, count: levels) + inner + String(repeating: close, count: levels)
          + after
      }
      let document = try GraphQLDocument(parsing: text(limit - outer), limits: limits)
      #expect(try GraphQLDocument(parsing: document.description, limits: limits) == document)
      let error = try #require(throws: GraphQLSyntaxError.self) {
        try GraphQLDocument(parsing: text(limit - outer + 1), limits: limits)
      }
      #expect(error.code == .tooDeep)
      #expect(error.line == 1)
    }
    #expect(GraphQLLimits(maximumDepth: .max).maximumDepth == GraphQLLimits.highestMaximumDepth)
  }

  @Test("10,000 levels are refused without a stack overflow", arguments: nestings)
  func hostileDepth(before: String, open: String, inner: String, close: String, after: String) throws {
    let text = before + String(repeating: open, count: 10_000)
    let error = try #require(throws: GraphQLSyntaxError.self) {
      try GraphQLDocument(parsing: text, limits: GraphQLLimits(maximumDepth: .max))
    }
    #expect(error.code == .tooDeep)
  }

  @Test("a megabyte of aliases is refused by tokens, and read if it may be")
  func manyAliases() throws {
    let text = "{" + (0..<100_000).map { "a\($0):b " }.joined() + "}"
    let error = try #require(throws: GraphQLSyntaxError.self) { try GraphQLDocument(parsing: text) }
    #expect(error.code == .tooManyTokens)
    let limits = GraphQLLimits(maximumTokens: 400_000, maximumBytes: text.utf8.count)
    #expect(
      try GraphQLDocument(parsing: text, limits: limits).operations.first?.selectionSet.count == 100_000)
  }

  @Test("tokens and bytes are counted exactly")
  func exactLimits() throws {
    let text = "{ a b }"
    _ = try GraphQLDocument(parsing: text, limits: GraphQLLimits(maximumTokens: 4, maximumBytes: 7))
    let tokens = try #require(throws: GraphQLSyntaxError.self) {
      try GraphQLDocument(parsing: text, limits: GraphQLLimits(maximumTokens: 3))
    }
    #expect(tokens.code == .tooManyTokens)
    #expect(tokens.offset == 6)
    let bytes = try #require(throws: GraphQLSyntaxError.self) {
      try GraphQLDocument(parsing: text, limits: GraphQLLimits(maximumBytes: 6))
    }
    #expect(bytes.code == .tooLarge)
  }
}
