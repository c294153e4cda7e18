internal import CarabinerSchema
internal import CarabinerWire

/// Finds the names of a configuration that neither the schema nor the documents have. A misspelt one would have no effect.
struct UnknownNames {
  private let schema: Schema
  private let documents: Set<String>
  private let responseKeys: Set<String>

  init(_ definitions: Definitions, schema: Schema) {
    self.schema = schema
    var names = Set(definitions.operations.map(\.name))
    for operation in definitions.operations {
      for variable in operation.definition.variables { names.insert("\(operation.name).$\(variable.name)") }
    }
    for fragment in definitions.fragments { names.formUnion([fragment.name, Naming.renameKey(ofFragment: fragment.name)]) }
    documents = names
    responseKeys = Set(definitions.fields.map(\.responseKey))
  }

  /// The problems of keys, sorted by their places.
  func problems(_ keys: [String: GeneratorProblem]) -> [GeneratorProblem] {
    keys.filter { !isKnown($0.key) }.map { key, place in
      let known = schema.types.map(\.name) + documents
      return GeneratorProblem(
        file: place.file, line: place.line, column: place.column,
        message: "neither the schema nor a document has \(key)\(Suggestion.text(for: key, among: known)); correct or remove it")
    }.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
  }

  private func isKnown(_ key: String) -> Bool {
    if documents.contains(key) || schema.type(named: key) != nil { return true }
    if key.hasPrefix("Mock<"), key.hasSuffix(">") { return schema.type(named: String(key.dropFirst(5).dropLast())) != nil }
    let parts = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let type = schema.type(named: parts[0]) else { return false }
    return type.field(named: parts[1]) != nil || type.inputField(named: parts[1]) != nil || responseKeys.contains(parts[1])
      || type.values.contains { $0.name == parts[1] }
  }
}
