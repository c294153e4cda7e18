internal import CarabinerSchema
internal import CarabinerWire

/// The parts of a schema that a store uses: fields, and the object types of interfaces and unions.
///
/// Two values are equal if these parts are equal, so a schema with other descriptions is still the same to a store. This is a
/// class, because each policy of a store refers to it and it never changes.
final class StoreSchema: Sendable, Hashable {
  let schema: Schema
  /// The interfaces of each type that has some, sorted by name.
  private let interfaces: [String: [String]]

  init(_ schema: Schema) {
    self.schema = schema
    let types = schema.types.lazy.filter { !$0.interfaces.isEmpty }
    interfaces = Dictionary(
      types.map { ($0.name, $0.interfaces.map(\.name).sorted()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a fragment on a type applies to an object of a type; nil if the schema does not know one of them.
  func object(_ type: String, fits condition: String) -> Bool? { schema.object(type, fits: condition) }

  /// A field of an object type or an interface; nil if the schema has none.
  func field(_ name: String, of type: String) -> Schema.Field? { schema.field(name, of: type) }

  /// The interfaces of a type, sorted by name.
  func interfaces(of type: String) -> [String] { interfaces[type] ?? [] }

  /// The root type of an operation, also if the schema does not have such operations.
  func rootType(of operation: GraphQLDocument.OperationDefinition.OperationType) -> String {
    schema.rootTypeName(of: operation) ?? operation.defaultRootTypeName
  }

  private var compositeTypes: [Schema.NamedType] { schema.types.filter(\.isComposite) }

  static func == (left: StoreSchema, right: StoreSchema) -> Bool {
    if left === right { return true }
    let types = left.compositeTypes
    return types.count == right.compositeTypes.count && left.interfaces == right.interfaces
      && Schema.OperationType.allCases.allSatisfy { left.rootType(of: $0) == right.rootType(of: $0) }
      && types.allSatisfy { type in right.schema.type(named: type.name).map { areEqual(type, $0) } ?? false }
  }

  private static func areEqual(_ left: Schema.NamedType, _ right: Schema.NamedType) -> Bool {
    left.kind == right.kind && left.fields.count == right.fields.count
      && Set(left.members.map(\.name)) == Set(right.members.map(\.name))
      && left.fields.allSatisfy { field in
        guard let other = right.field(named: field.name) else { return false }
        return field.type.name == other.type.name && field.needsNoArguments == other.needsNoArguments
      }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(interfaces)
    for operation in Schema.OperationType.allCases { hasher.combine(rootType(of: operation)) }
  }
}
