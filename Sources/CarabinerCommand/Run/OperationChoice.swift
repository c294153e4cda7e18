internal import ArgumentParser
internal import Carabiner
internal import CarabinerWire

/// The operation of a document to run.
struct OperationChoice {
  let name: String?
  let type: GraphQLOperationType

  /// - Throws: A usage error if the document cannot be parsed, or the operation is missing or ambiguous.
  init(document text: String, name wanted: String?) throws {
    let document: GraphQLDocument
    do {
      document = try GraphQLDocument(parsing: text)
    } catch {
      throw ValidationError("the document cannot be read: line \(error.line), column \(error.column): \(error.message)")
    }
    let operations = document.operations
    let names = operations.compactMap(\.name).joined(separator: ", ")
    guard wanted != nil || operations.count == 1 else {
      throw ValidationError(
        operations.isEmpty
          ? "the document has no operation" : "the document has several operations (\(names)); choose with --operation-name")
    }
    guard let operation = document.operation(named: wanted) else {
      throw ValidationError("the document has no operation \(wanted ?? ""); it has \(names.isEmpty ? "none with a name" : names)")
    }
    name = operation.name
    type =
      switch operation.type {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
  }
}
