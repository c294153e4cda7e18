/// The places of the parts of a document in its text. They are not stored in the document, so that equal documents compare equal.
public struct GraphQLPlaces: Sendable, Hashable {
  /// A place in a text, as errors report it.
  public struct Place: Sendable, Hashable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in Unicode characters, counted from 1.
    public let column: Int

    /// Creates a place.
    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// The place of each definition, in order.
  public let definitions: [Place]
  /// The place of each selection, in the order of the text. A field precedes its selection set.
  public let selections: [Place]
  /// The place of each variable that is declared, in order.
  public let variables: [Place]
}

extension GraphQLDocument {
  /// Parses a document and records the places of its parts.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  public static func parsingWithPlaces(
    _ text: String, limits: GraphQLLimits = GraphQLLimits()
  ) throws(GraphQLSyntaxError) -> (document: GraphQLDocument, places: GraphQLPlaces) {
    let bytes = Array(text.utf8)
    let (document, parser) = try GraphQLDocument.parsed(bytes, limits: limits, recordsVariables: true)
    var counter = PlaceCounter(bytes)
    // Each list is in ascending order, but the lists interleave, so each needs its own pass.
    let selections = parser.selectionOffsets.map { counter.place(of: $0) }
    counter = PlaceCounter(bytes)
    let definitions = parser.definitionOffsets.map { counter.place(of: $0) }
    counter = PlaceCounter(bytes)
    let variables = (parser.variableOffsets ?? []).map { counter.place(of: $0) }
    return (document, GraphQLPlaces(definitions: definitions, selections: selections, variables: variables))
  }
}

/// Converts ascending offsets to lines and columns in one pass.
package struct PlaceCounter {
  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1
  private var column = 1

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package mutating func place(of target: Int) -> GraphQLPlaces.Place {
    while offset < min(target, bytes.count) {
      switch bytes[offset] {
      case 0x0D where offset + 1 < bytes.count && bytes[offset + 1] == 0x0A: break
      case 0x0A, 0x0D: (line, column) = (line + 1, 1)
      case 0x80...0xBF: break
      default: column += 1
      }
      offset += 1
    }
    return GraphQLPlaces.Place(line: line, column: column)
  }
}
