internal import CarabinerWire

/// A text in the schema definition language, with the name of its file for messages.
public struct SchemaSource: Sendable, Hashable {
  /// The name of the file; empty for none.
  public let file: String
  /// The text.
  public let text: String

  /// Creates a source.
  public init(file: String = "", text: String) {
    self.file = file
    self.text = text
  }
}

extension Schema {
  /// Reads a schema in the schema definition language.
  ///
  /// - Throws: ``SchemaError`` with the place of the first fault.
  public init(parsing text: String, limits: SchemaLimits = SchemaLimits()) throws(SchemaError) {
    try self.init(parsing: [SchemaSource(text: text)], limits: limits)
  }

  /// Reads a schema of several texts. A text may extend and use types of the others.
  ///
  /// A text is not refused because of types and fields that are defined twice, or types that are not defined.
  ///
  /// - Throws: ``SchemaError`` with the file and the place of the first fault.
  public init(parsing sources: [SchemaSource], limits: SchemaLimits = SchemaLimits()) throws(SchemaError) {
    var builder = SchemaBuilder(limits: limits)
    var bytesLeft = limits.maximumBytes
    var tokensLeft = limits.maximumTokens
    var isEmpty = true
    for (position, source) in sources.enumerated() {
      let count = source.text.utf8.count
      guard count <= bytesLeft else {
        throw SchemaError(
          .tooLarge,
          sources.count == 1
            ? "the schema has \(count) bytes and at most \(limits.maximumBytes) are allowed"
            : "the texts of the schema have more than \(limits.maximumBytes) bytes",
          at: Location(file: source.file, line: 1, column: 1))
      }
      bytesLeft -= count
      let documentLimits = GraphQLLimits(
        maximumDepth: limits.maximumDepth, maximumTokens: tokensLeft, maximumBytes: limits.maximumBytes)
      do throws(GraphQLSyntaxError) {
        var reader = try SchemaReader(source, documentLimits)
        // Swapped instead of copied, because a copy for each file would take quadratic time.
        swap(&reader.builder, &builder)
        // A file may have comments only, if another file has a definition.
        if isEmpty { isEmpty = reader.isAtEnd }
        if !reader.isAtEnd || isEmpty && position == sources.count - 1 { try reader.read() }
        tokensLeft = max(tokensLeft - reader.parser.tokens, 0)
        swap(&reader.builder, &builder)
      } catch {
        throw SchemaError(error, file: source.file)
      }
    }
    guard !isEmpty else { throw SchemaError(.syntax, "there is no text of a schema; name at least one file") }
    self = builder.schema()
  }
}
