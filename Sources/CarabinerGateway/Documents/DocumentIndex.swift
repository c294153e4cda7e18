internal import Carabiner
internal import CarabinerWire
internal import Synchronization

/// A cache of the operations that a document contains, so that each document is parsed once.
final class DocumentIndex: Sendable {
  /// The operations of a document.
  struct Entry: Sendable {
    fileprivate let operations: [(place: Int, name: String?, type: GraphQLOperationType)]
    /// The text without descriptions, which older servers refuse; nil if it has none.
    let plain: String?
    /// The facts that the rules for operations need; nil without such rules.
    let analysis: DocumentAnalysis?

    /// Selects the operation to run.
    ///
    /// - Throws: A refusal with the status 400 if no operation has this name, or if the name is absent and the document does not
    ///   have exactly one.
    func operation(named name: String?) throws(RequestRefusal) -> (place: Int, name: String?, type: GraphQLOperationType) {
      if let name {
        guard let operation = operations.first(where: { $0.name == name }) else {
          throw .document("the document has no operation \(name)", code: "OPERATION_RESOLUTION_FAILURE")
        }
        return operation
      }
      guard let only = operations.first, operations.count == 1 else {
        throw .document(
          operations.isEmpty ? "the document has no operation" : "the document has several operations; name one as operationName",
          code: "OPERATION_RESOLUTION_FAILURE")
      }
      return only
    }
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var bytes = 0
  }

  /// The maximum size of the cached texts, in bytes. Clients choose the texts, so the cache is cleared when it exceeds this.
  private static let maximumBytes = 8 << 20

  private let state = Mutex(State())

  /// - Throws: A refusal with the status 400 if the text is not a valid document.
  func entry(for document: String) throws(RequestRefusal) -> Entry {
    if let known = state.withLock({ $0.entries[document] }) { return known }
    let (parsed, plain) = try Self.parsed(document)
    let entry = Entry(parsed, plain, analysis: nil)
    keep(entry, for: document)
    return entry
  }

  /// - Parameters:
  ///   - rules: The rules that the document is analysed for.
  ///   - checkTokens: Called with the number of tokens before the document is parsed.
  /// - Throws: A refusal with the status 400 if the text is not a valid document, or that of `checkTokens`.
  func entry(
    for document: String, _ rules: OperationRules, checkTokens: (Int) throws(RequestRefusal) -> Void
  ) throws(RequestRefusal) -> Entry {
    if let known = state.withLock({ $0.entries[document] }), let analysis = known.analysis, analysis.rules == rules.number {
      try checkTokens(analysis.tokens)
      return known
    }
    let tokens: GraphQLTokens
    do throws(GraphQLSyntaxError) {
      tokens = try GraphQLTokens(of: document)
    } catch {
      throw .syntax(error)
    }
    try checkTokens(tokens.count)
    let (parsed, plain) = try Self.parsed(document)
    let entry = Entry(parsed, plain, analysis: try DocumentAnalysis(document, tokens, parsed, for: rules))
    keep(entry, for: document)
    return entry
  }

  private static func parsed(_ document: String) throws(RequestRefusal) -> (document: GraphQLDocument, text: String?) {
    do throws(GraphQLSyntaxError) {
      return try GraphQLDocument.parsingWithoutDescriptions(document)
    } catch {
      throw .syntax(error)
    }
  }

  private func keep(_ entry: Entry, for document: String) {
    state.withLock { state in
      let size = document.utf8.count + (entry.plain?.utf8.count ?? 0)
      if state.bytes + size > Self.maximumBytes { state = State() }
      if size <= Self.maximumBytes, state.entries.updateValue(entry, forKey: document) == nil { state.bytes += size }
    }
  }
}

extension DocumentIndex.Entry {
  fileprivate init(_ document: GraphQLDocument, _ plain: String?, analysis: DocumentAnalysis?) {
    self.plain = plain
    operations = document.operations.enumerated().map { ($0, $1.name, GraphQLOperationType($1.type)) }
    self.analysis = analysis
  }
}

extension RequestRefusal {
  fileprivate static func syntax(_ error: GraphQLSyntaxError) -> RequestRefusal {
    .document("line \(error.line), column \(error.column): \(error.message)", code: "GRAPHQL_PARSE_FAILED")
  }
}

extension GraphQLOperationType {
  fileprivate init(_ type: GraphQLDocument.OperationDefinition.OperationType) {
    self =
      switch type {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
  }
}
