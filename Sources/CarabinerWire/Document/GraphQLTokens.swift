/// The tokens of a document, without what the grammar ignores between them.
package struct GraphQLTokens: Sendable, Hashable {
  /// The tokens, separated by spaces. Two documents have the same bytes if they have the same tokens in the same order.
  package let bytes: [UInt8]
  /// The number of tokens.
  package let count: Int

  /// Splits a text into tokens. The grammar of the document is not checked.
  ///
  /// - Throws: ``GraphQLSyntaxError`` if the text is too large, or a part of it is not a token.
  package init(of text: String, maximumBytes: Int = GraphQLLimits.defaultMaximumBytes) throws(GraphQLSyntaxError) {
    let text = Array(text.utf8)
    guard text.count <= maximumBytes else {
      throw GraphQLSyntaxError(
        .tooLarge, "the document has \(text.count) bytes and at most \(maximumBytes) are allowed", at: 0, in: text.span)
    }
    var lexer = GraphQLLexer(text)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var count = 0
    while true {
      let token = try lexer.next()
      if token.kind == .end { break }
      if count > 0 { bytes.append(0x20) }
      bytes.append(contentsOf: text[token.range])
      count += 1
    }
    self.bytes = bytes
    self.count = count
  }
}
