internal import ArgumentParser
internal import Carabiner

/// Which operation of a document is meant.
struct OperationChoice {
  let name: String?
  let type: GraphQLOperationType

  /// - Throws: A usage error if the document cannot be read, or the choice is not clear.
  init(document text: String, name wanted: String?) throws {
    let operations: [OperationOutline.Operation]
    do {
      operations = try OperationOutline(text).operations
    } catch {
      throw ValidationError("the document cannot be read: \(error)")
    }
    let names = operations.compactMap(\.name).joined(separator: ", ")
    guard wanted != nil || operations.count == 1 else {
      throw ValidationError(
        operations.isEmpty
          ? "the document has no operation" : "the document has several operations (\(names)); choose with --operation-name")
    }
    guard let operation = wanted == nil ? operations.first : operations.first(where: { $0.name == wanted }) else {
      throw ValidationError("the document has no operation \(wanted ?? ""); it has \(names.isEmpty ? "none with a name" : names)")
    }
    name = operation.name
    type = operation.type
  }
}
