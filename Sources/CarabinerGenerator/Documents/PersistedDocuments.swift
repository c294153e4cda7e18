internal import CarabinerWire

/// The list of the documents that clients send, for servers that accept listed ones only.
struct PersistedDocuments {
  /// An operation as clients send it.
  struct Operation {
    let name: String
    /// `query`, `mutation` or `subscription`.
    let type: String
    let text: String
    let hash: String
  }

  private var operations: [Operation] = []

  mutating func add(_ operation: Operation) { operations.append(operation) }

  /// The text of the list, one operation per line.
  func text(_ format: GeneratorConfiguration.PersistedDocuments.Format) -> String {
    let lines = operations.map { operation in
      switch format {
      case .apollo:
        JSONValue.object([
          "id": .string(operation.hash), "name": .string(operation.name), "type": .string(operation.type),
          "body": .string(operation.text),
        ]).description
      case .textsByID: JSONValue.string(operation.hash).description + ": " + JSONValue.string(operation.text).description
      }
    }
    let list = lines.isEmpty ? "" : "\n" + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n"
    return switch format {
    case .apollo: "{\"format\": \"apollo-persisted-query-manifest\", \"version\": 1, \"operations\": [\(list)]}\n"
    case .textsByID: "{\(list)}\n"
    }
  }
}
