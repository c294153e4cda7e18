internal import CarabinerWire

/// A type of the schema.
enum SchemaType: Sendable {
  case scalar
  case enumeration([String])
  case input([InputDefinition])
  case object(fields: [FieldDefinition], interfaces: [String])
  case interface(fields: [FieldDefinition])
  case union(members: [String])

  /// The fields of the type; empty for a union, nil for a leaf or an input type.
  var fields: [FieldDefinition]? {
    switch self {
    case .object(let fields, _), .interface(let fields): fields
    case .union: []
    case .scalar, .enumeration, .input: nil
    }
  }

  /// Whether values of the type need a selection set.
  var isComposite: Bool { fields != nil }
}

/// A field of an object or an interface.
struct FieldDefinition: Sendable {
  let name: String
  let type: GraphQLDocument.TypeReference
  let arguments: [InputDefinition]

  init(_ name: String, _ type: GraphQLDocument.TypeReference, _ arguments: InputDefinition...) {
    self.name = name
    self.type = type
    self.arguments = arguments
  }
}

/// An argument of a field, or a field of an input object.
struct InputDefinition: Sendable {
  let name: String
  let type: GraphQLDocument.TypeReference
  let defaultValue: JSONValue?

  init(_ name: String, _ type: GraphQLDocument.TypeReference, default value: JSONValue? = nil) {
    self.name = name
    self.type = type
    defaultValue = value
  }

  /// Whether a request must set a value.
  var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

extension GraphQLDocument.TypeReference {
  static let id = Self.named("ID")
  static let string = Self.named("String")
  static let int = Self.named("Int")
  static let float = Self.named("Float")
  static let boolean = Self.named("Boolean")

  /// The non-null variant of the type.
  var required: Self { .nonNull(self) }

  var isNonNull: Bool { if case .nonNull = self { true } else { false } }

  /// The type's name without lists and non-null marks.
  var innermostName: String {
    switch self {
    case .named(let name): name
    case .list(let element): element.innermostName
    case .nonNull(let type): type.innermostName
    }
  }
}
