public import CarabinerWire

/// A GraphQL schema of the September 2025 edition: named types, directives, and the root types of operations.
///
/// A schema is read from the schema definition language or from an introspection result. Reading does not validate it:
/// ``validate(limits:)`` does. Two schemas are equal if they define the same, in any order. Places in texts do not count.
public struct Schema: Sendable, Hashable {
  /// The kind of an operation.
  public typealias OperationType = GraphQLDocument.OperationDefinition.OperationType

  let storage: SchemaStorage

  init(_ storage: SchemaStorage) { self.storage = storage }

  /// A schema without any definition but the built-in ones.
  package static let empty = Schema(SchemaStorage(SchemaBuilder(limits: SchemaLimits())))

  /// The description of the schema; nil if it has none.
  public var description: String? { storage.description }

  /// The directives on the schema itself, in order.
  public var appliedDirectives: [AppliedDirective] { storage.appliedDirectives }

  /// The types that the schema defines, in order. The five built-in scalars are not among them.
  public var types: [NamedType] { storage.definedTypes }

  /// The directives that the schema defines, in order, and built-in ones if they have arguments that the specification lacks.
  public var directives: [DirectiveDefinition] { storage.directives.elements }

  /// The type of a name, also a built-in scalar; nil if there is none.
  public func type(named name: String) -> NamedType? {
    storage.ids[name].flatMap { storage.types[$0] }
  }

  /// The type that a reference names, without lists and exclamation marks; nil if the schema does not define it.
  public func type(of reference: TypeReference) -> NamedType? {
    // The number of a type is valid in the schema of the reference only.
    if storage.types.indices.contains(reference.id), let type = storage.types[reference.id], type.name == reference.name {
      return type
    }
    return type(named: reference.name)
  }

  /// A type of a document in this schema; nil if the schema does not define it.
  package func reference(_ type: GraphQLDocument.TypeReference) -> TypeReference? {
    storage.ids[type.innermostName].flatMap { TypeReference(type, id: $0) }
  }

  /// The directive of a name, also a built-in one; nil if there is none.
  public func directive(named name: String) -> DirectiveDefinition? {
    storage.directives[name] ?? DirectiveDefinition.builtIn[name]
  }

  /// The name of the root type of an operation; nil if the schema has no such operations. The type may be undefined in an invalid schema.
  public func rootTypeName(of operation: OperationType) -> String? { storage.rootTypes[operation]?.name }

  /// The root type of an operation; nil if the schema has no such operations.
  public func rootType(of operation: OperationType) -> NamedType? { storage.rootTypes[operation].flatMap { type(of: $0) } }

  /// An operation whose root type has a field, if a type is the root type of another operation.
  func rootOperation(having field: String, besides type: NamedType) -> OperationType? {
    guard OperationType.allCases.contains(where: { rootTypeName(of: $0) == type.name }) else { return nil }
    return OperationType.allCases.first { rootType(of: $0)?.field(named: field) != nil }
  }

  /// A field of an object type or an interface; nil if it has none of this name.
  public func field(_ name: String, of type: String) -> Field? { self.type(named: type)?.field(named: name) }

  /// The object types that a value of a type can have: itself, those that implement it, or its members.
  public func possibleTypes(of type: NamedType) -> [NamedType] {
    if type.kind == .object { return [type] }
    guard let id = storage.ids[type.name] else { return [] }
    return storage.possibleTypes[id].compactMap { storage.types[$0] }
  }

  /// Whether a fragment on a type applies to an object of a type; nil if the schema does not know one of them.
  public func object(_ type: String, fits condition: String) -> Bool? {
    guard let object = storage.ids[type], storage.types[object]?.kind == .object, let other = storage.ids[condition] else {
      return nil
    }
    switch storage.types[other]?.kind {
    case .object: return object == other
    case .interface, .union: break
    // An interface that is implemented, but not defined, is known by the types that implement it.
    case nil: if storage.possibleTypes[other].isEmpty { return nil }
    case .scalar, .enumeration, .inputObject: return nil
    }
    return storage.memberships.contains(Membership(object: object, type: other))
  }

  /// Whether an object can be of both types.
  public func overlap(_ one: NamedType, _ other: NamedType) -> Bool {
    let (few, many) = possibleTypes(of: one).count <= possibleTypes(of: other).count ? (one, other) : (other, one)
    return possibleTypes(of: few).contains { object($0.name, fits: many.name) == true }
  }
}

/// An object type that implements an interface or is a member of a union.
struct Membership: Sendable, Hashable {
  let object: Int
  let type: Int
}

/// The contents of a schema. A class, because many values refer to a schema and it never changes.
final class SchemaStorage: Sendable, Hashable {
  let description: String?
  let appliedDirectives: [Schema.AppliedDirective]
  /// The types by number; nil for a name that is used and not defined.
  let types: [Schema.NamedType?]
  /// The numbers by name.
  let ids: [String: Int]
  let definedTypes: [Schema.NamedType]
  let directives: NamedList<Schema.DirectiveDefinition>
  let rootTypes: [Schema.OperationType: Schema.TypeReference]
  /// The object types of each interface and union, by number.
  let possibleTypes: [[Int]]
  let memberships: Set<Membership>
  /// The problems that reading found, which the definitions no longer show: names that are defined twice, for example.
  let problems: [SchemaProblem]
  /// The place of the definition of the schema itself, or of its first type; nil if the schema is not from a text.
  let location: Schema.Location?

  init(_ builder: SchemaBuilder) {
    description = builder.description
    appliedDirectives = builder.appliedDirectives
    let types = builder.types()
    self.types = types
    ids = builder.ids
    definedTypes = builder.definitionOrder.compactMap { types[$0] }
    directives = builder.directives
    rootTypes = builder.rootTypes()
    var possibleTypes = [[Int]](repeating: [], count: types.count)
    var memberships: Set<Membership> = []
    func add(_ object: Int, to type: Int) {
      if memberships.insert(Membership(object: object, type: type)).inserted { possibleTypes[type].append(object) }
    }
    for id in builder.definitionOrder {
      guard let type = types[id] else { continue }
      if type.kind == .object { for interface in type.interfaces { add(id, to: interface.id) } }
      for member in type.members where types[member.id]?.kind == .object { add(member.id, to: id) }
    }
    self.possibleTypes = possibleTypes
    self.memberships = memberships
    problems = builder.problems
    location = builder.schemaLocation ?? definedTypes.first?.location
  }

  static func == (left: SchemaStorage, right: SchemaStorage) -> Bool {
    if left === right { return true }
    guard left.description == right.description, left.appliedDirectives == right.appliedDirectives,
      left.rootTypes == right.rootTypes, left.directives == right.directives, left.definedTypes.count == right.definedTypes.count
    else { return false }
    return left.definedTypes.allSatisfy { type in right.ids[type.name].flatMap { right.types[$0] } == type }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(rootTypes)
    hasher.combine(definedTypes.count)
    hasher.combine(directives.elements.count)
  }
}
