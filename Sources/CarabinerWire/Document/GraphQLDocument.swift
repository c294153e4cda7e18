/// An executable GraphQL document: operations and the fragments that they use.
///
/// The grammar is that of the September 2025 specification. Documents are not validated against a schema.
public struct GraphQLDocument: Sendable, Hashable {
  /// A definition at the top level of a document.
  public enum Definition: Sendable, Hashable {
    /// A query, mutation or subscription.
    case operation(OperationDefinition)
    /// A named fragment.
    case fragment(FragmentDefinition)
  }

  /// Operations and fragments, in order.
  public var definitions: [Definition]

  /// Creates a document.
  public init(definitions: [Definition]) { self.definitions = definitions }

  /// Parses a document.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  public init(
    parsing text: String, limits: GraphQLLimits = GraphQLLimits()
  ) throws(GraphQLSyntaxError) {
    self = try Self.parsed(Array(text.utf8), limits: limits).document
  }

  /// Parses a document in UTF-8.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  public init(
    parsing bytes: Span<UInt8>, limits: GraphQLLimits = GraphQLLimits()
  ) throws(GraphQLSyntaxError) {
    // Assigned by index instead of appended, so that the compiler copies many bytes at once.
    var copy = [UInt8](repeating: 0, count: bytes.count)
    for offset in copy.indices { copy[offset] = bytes[offset] }
    self = try Self.parsed(copy, limits: limits).document
  }

  /// Returns a document and the parser that has read it.
  static func parsed(
    _ bytes: [UInt8], limits: GraphQLLimits, recordsParts: Bool = false, recordsVariables: Bool = false
  ) throws(GraphQLSyntaxError) -> (document: GraphQLDocument, parser: GraphQLParser) {
    guard bytes.count <= limits.maximumBytes else {
      throw GraphQLSyntaxError(
        .tooLarge, "the document has \(bytes.count) bytes and at most \(limits.maximumBytes) are allowed", at: 0, in: bytes.span)
    }
    var parser = try GraphQLParser(bytes, limits: limits, recordsParts: recordsParts, recordsVariables: recordsVariables)
    return (GraphQLDocument(definitions: try parser.document()), parser)
  }

  /// The operations, in order.
  public var operations: [OperationDefinition] {
    definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
  }

  /// The fragments, in order.
  public var fragments: [FragmentDefinition] {
    definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
  }

  /// The operation that a request selects (GetOperation of the specification).
  ///
  /// - Parameter name: The name of the operation; nil for the only one.
  /// - Returns: Nil if no operation has the name, or if there is no name and not exactly one operation.
  public func operation(named name: String?) -> OperationDefinition? {
    let operations = operations
    guard let name else { return operations.count == 1 ? operations[0] : nil }
    return operations.first { $0.name == name }
  }

  /// The fragment of this name.
  public func fragment(named name: String) -> FragmentDefinition? { fragments.first { $0.name == name } }
}
