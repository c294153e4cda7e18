extension GraphQLDocument {
  /// Parses a document and returns its text without descriptions; nil in place of the text if it has none.
  ///
  /// Spaces replace the descriptions, so that everything else keeps its line, and errors of the server name the right one.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  package static func parsingWithoutDescriptions(
    _ text: String, limits: GraphQLLimits = GraphQLLimits()
  ) throws(GraphQLSyntaxError) -> (document: GraphQLDocument, text: String?) {
    var bytes = Array(text.utf8)
    let (document, parser) = try parsed(bytes, limits: limits)
    guard !parser.descriptionRanges.isEmpty else { return (document, nil) }
    for range in parser.descriptionRanges {
      for place in range where bytes[place] != 0x0A && bytes[place] != 0x0D { bytes[place] = 0x20 }
    }
    return (document, String(decoding: bytes, as: UTF8.self))
  }
}
