internal import Carabiner
internal import CarabinerWire
internal import Synchronization

/// A cache of the operations that a document contains, so that each document is parsed once.
final class DocumentIndex: Sendable {
  /// The operations of a document.
  struct Entry: Sendable {
    fileprivate let operations: [(name: String?, type: GraphQLOperationType)]

    /// Selects the operation to run.
    ///
    /// - Throws: A refusal with the status 400 if no operation has this name, or if the name is absent and the document does not
    ///   have exactly one.
    func operation(named name: String?) throws(RequestRefusal) -> (name: String?, type: GraphQLOperationType) {
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
    let entry: Entry
    do {
      let operations = try GraphQLDocument(parsing: document).operations
      entry = Entry(operations: operations.map { ($0.name, GraphQLOperationType($0.type)) })
    } catch {
      throw .document("line \(error.line), column \(error.column): \(error.message)", code: "GRAPHQL_PARSE_FAILED")
    }
    state.withLock { state in
      let size = document.utf8.count
      if state.bytes + size > Self.maximumBytes { state = State() }
      if size <= Self.maximumBytes, state.entries.updateValue(entry, forKey: document) == nil { state.bytes += size }
    }
    return entry
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
