internal import CarabinerWire

/// The types of a schema by name.
struct Schema: Sendable {
  /// The types with their names, in the order of the schema's text.
  let definitions: [(name: String, type: SchemaType)]
  private let types: [String: SchemaType]

  init(_ definitions: [(name: String, type: SchemaType)]) {
    self.definitions = definitions
    types = Dictionary(definitions.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
  }

  subscript(name: String) -> SchemaType? { types[name] }

  /// The root type of an operation.
  func rootType(of operation: GraphQLDocument.OperationDefinition.OperationType) -> String {
    switch operation {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }

  /// A field of a composite type. Every composite type has `__typename`.
  func field(_ name: String, of type: String) -> FieldDefinition? {
    name == "__typename" ? FieldDefinition(name, .string.required) : types[type]?.fields?.first { $0.name == name }
  }

  /// The object types that a value of this type may have.
  func possibleTypes(of name: String) -> [String] {
    switch types[name] {
    case .object: [name]
    case .union(let members): members
    case .interface:
      definitions.compactMap { definition in
        if case .object(_, let interfaces) = definition.type, interfaces.contains(name) { definition.name } else { nil }
      }
    case .scalar, .enumeration, .input, nil: []
    }
  }

  /// Whether an object type belongs to both types.
  func overlap(_ one: String, _ other: String) -> Bool {
    possibleTypes(of: one).contains(where: possibleTypes(of: other).contains)
  }
}
