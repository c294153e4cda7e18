internal import CarabinerPlugin

/// The selections of a GraphQL document.
final class Document: Sendable {
  private let operations: [(name: String?, selections: Int)]
  let fragments: [String: Int]
  /// All selection sets; others refer to them by index.
  let sets: [[Selection]]

  /// - Throws: ``PluginFailure`` if the text is not a document that can be executed.
  init(_ text: String) throws {
    var parser = DocumentParser(text)
    try parser.parse()
    operations = parser.operations
    fragments = parser.fragments
    sets = parser.sets
  }

  /// The selections of an operation.
  ///
  /// - Throws: ``PluginFailure`` if the document does not have it.
  func scope(of name: String?) throws -> SelectionScope {
    guard let operation = operations.first(where: { $0.name == name }) ?? (operations.count == 1 ? operations.first : nil) else {
      throw PluginFailure("the document has no operation of the name \(name ?? "(none)")")
    }
    return SelectionScope(self, [operation.selections])
  }
}

/// A selection of a document.
enum Selection: Sendable {
  /// A field, its name in the response, and the index of its own selections.
  case field(name: String, key: String, selections: Int?)
  case spread(String)
  case inline(Int)
}
