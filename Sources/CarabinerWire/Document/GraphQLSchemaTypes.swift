/// The types of a schema: the object types of each interface and union, and the type of each field.
///
/// A class, because each policy of a store refers to it and it never changes.
public final class GraphQLSchemaTypes: Sendable, Hashable {
  /// A field of an object type or an interface.
  package struct Field: Sendable, Hashable {
    /// The name of its type, without lists and exclamation marks.
    package let type: String
    /// Whether it can be selected without arguments.
    package let needsNoArguments: Bool
  }

  /// The default limits for a schema.
  public static let defaultLimits = GraphQLLimits(maximumTokens: 4_000_000, maximumBytes: 32 << 20)

  /// The object types of each interface and union.
  private let possibleTypes: [String: Set<String>]
  /// The interfaces of each type, sorted by name.
  private let interfaces: [String: [String]]
  private let objectTypes: Set<String>
  private let fields: [String: [String: Field]]
  private let rootTypes: [GraphQLDocument.OperationDefinition.OperationType: String]

  /// Reads a schema in the schema definition language.
  ///
  /// - Throws: ``GraphQLSyntaxError`` with the place of the first fault.
  public convenience init(parsing text: String, limits: GraphQLLimits = GraphQLSchemaTypes.defaultLimits)
    throws(GraphQLSyntaxError)
  {
    let bytes = Array(text.utf8)
    guard bytes.count <= limits.maximumBytes else {
      throw GraphQLSyntaxError(
        .tooLarge, "the schema has \(bytes.count) bytes and at most \(limits.maximumBytes) are allowed", at: 0, in: bytes.span)
    }
    var parser = try GraphQLParser(bytes, limits: limits)
    self.init(try parser.schema())
  }

  init(_ schema: ParsedSchema) {
    objectTypes = schema.objectTypes
    fields = schema.fields
    interfaces = schema.implementations.mapValues { $0.sorted() }
    rootTypes = schema.rootTypes
    var possibleTypes = schema.unions
    for interface in schema.interfaces { possibleTypes[interface, default: []].formUnion([]) }
    for (type, interfaces) in schema.implementations where schema.objectTypes.contains(type) {
      for interface in interfaces { possibleTypes[interface, default: []].insert(type) }
    }
    self.possibleTypes = possibleTypes
  }

  /// Whether a fragment on a type applies to an object of a type; nil if the schema does not know one of them.
  package func object(_ type: String, fits condition: String) -> Bool? {
    guard objectTypes.contains(type) else { return nil }
    if objectTypes.contains(condition) { return type == condition }
    return possibleTypes[condition]?.contains(type)
  }

  /// A field of an object type or an interface; nil if the schema has none.
  package func field(_ name: String, of type: String) -> Field? { fields[type]?[name] }

  /// The interfaces of a type, sorted by name.
  package func interfaces(of type: String) -> [String] { interfaces[type] ?? [] }

  /// Whether this is an object type, and not an interface or a union.
  package func isObjectType(_ name: String) -> Bool { objectTypes.contains(name) }

  /// The root type of an operation.
  package func rootType(of operation: GraphQLDocument.OperationDefinition.OperationType) -> String {
    if let type = rootTypes[operation] { return type }
    return switch operation {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }

  public static func == (left: GraphQLSchemaTypes, right: GraphQLSchemaTypes) -> Bool {
    left === right
      || left.possibleTypes == right.possibleTypes && left.interfaces == right.interfaces
        && left.objectTypes == right.objectTypes && left.fields == right.fields && left.rootTypes == right.rootTypes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(objectTypes)
    hasher.combine(possibleTypes)
  }
}

/// The definitions of a schema in parsed form.
struct ParsedSchema {
  var objectTypes: Set<String> = []
  var interfaces: Set<String> = []
  /// The members of each union.
  var unions: [String: Set<String>] = [:]
  /// The interfaces of each type.
  var implementations: [String: Set<String>] = [:]
  var fields: [String: [String: GraphQLSchemaTypes.Field]] = [:]
  var rootTypes: [GraphQLDocument.OperationDefinition.OperationType: String] = [:]
}
