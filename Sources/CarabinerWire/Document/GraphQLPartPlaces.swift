/// The places of all parts of a document in its text, in the order of the text.
///
/// A part is: a definition and its name; the type of a fragment; a variable with, in this order, its name, its type and the name in the
/// type; a selection set; a selection; the name of a spread; the type of an inline fragment; a directive; an argument or a field of an
/// object; and a value, also one in a list or an object.
package struct GraphQLPartPlaces: Sendable {
  private let bytes: [UInt8]
  /// The offsets in the text, ascending.
  package let offsets: [Int]

  init(_ bytes: [UInt8], offsets: [Int]) {
    self.bytes = bytes
    self.offsets = offsets
  }

  /// The lines and columns of offsets in any order, by offset.
  package func places(of offsets: some Sequence<Int>) -> [Int: GraphQLPlaces.Place] {
    var counter = PlaceCounter(bytes)
    var places: [Int: GraphQLPlaces.Place] = [:]
    for offset in offsets.sorted() { places[offset] = counter.place(of: offset) }
    return places
  }
}

extension GraphQLDocument {
  /// Parses a document and records the places of all its parts.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  package static func parsingWithParts(
    _ bytes: [UInt8], limits: GraphQLLimits = GraphQLLimits()
  ) throws(GraphQLSyntaxError) -> (document: GraphQLDocument, parts: GraphQLPartPlaces) {
    let (document, parser) = try parsed(bytes, limits: limits, recordsParts: true)
    return (document, GraphQLPartPlaces(bytes, offsets: parser.partOffsets ?? []))
  }
}
