extension Schema {
  /// A named type. A class, because fields and lists refer to it and it never changes.
  public final class NamedType: Sendable, Hashable {
    /// The kind of a type, as introspection names it.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A leaf with a value of its own format.
      case scalar = "SCALAR"
      /// Fields with values.
      case object = "OBJECT"
      /// Fields that several types have.
      case interface = "INTERFACE"
      /// One of several object types.
      case union = "UNION"
      /// One of several names.
      case enumeration = "ENUM"
      /// Fields of an argument.
      case inputObject = "INPUT_OBJECT"
    }

    /// The name.
    public let name: String
    /// The kind.
    public let kind: Kind
    let contents: TypeContents

    init(name: String, kind: Kind, contents: TypeContents) {
      self.name = name
      self.kind = kind
      self.contents = contents
    }

    /// The description for readers, in Markdown; nil if it has none.
    public var description: String? { contents.description }
    /// The interfaces of an object type or an interface, in order.
    public var interfaces: [TypeReference] { contents.interfaces.elements }
    /// The fields of an object type or an interface, in order.
    public var fields: [Field] { contents.fields.elements }
    /// The object types of a union, in order.
    public var members: [TypeReference] { contents.members.elements }
    /// The values of an enumeration, in order.
    public var values: [EnumValue] { contents.values.elements }
    /// The fields of an input object, in order.
    public var inputFields: [InputValue] { contents.inputFields.elements }
    /// The URL of the specification of a scalar (`@specifiedBy`); nil if it has none.
    public var specifiedByURL: String? { contents.specifiedByURL }
    /// Whether exactly one field of this input object must be set (`@oneOf`).
    public var isOneOf: Bool { contents.isOneOf }
    /// The directives on the type, in order, without `@specifiedBy` and `@oneOf`.
    public var appliedDirectives: [AppliedDirective] { contents.appliedDirectives }
    /// The place of the definition; nil if the type is not from a text.
    public var location: Location? { contents.location.value }

    /// The field of this name of an object type or an interface.
    public func field(named name: String) -> Field? { contents.fields[name] }
    /// The value of this name of an enumeration.
    public func value(named name: String) -> EnumValue? { contents.values[name] }
    /// The field of this name of an input object.
    public func inputField(named name: String) -> InputValue? { contents.inputFields[name] }

    /// Whether it is an object type, an interface or a union: a value needs a selection set.
    public var isComposite: Bool { kind == .object || kind == .interface || kind == .union }
    /// Whether it may be the type of an argument.
    public var isInput: Bool { kind == .scalar || kind == .enumeration || kind == .inputObject }
    /// Whether it may be the type of a field.
    public var isOutput: Bool { kind != .inputObject }
    /// Whether it is one of the five scalars of the specification.
    public var isBuiltIn: Bool { kind == .scalar && Schema.builtInScalars.contains(name) }

    public static func == (left: NamedType, right: NamedType) -> Bool {
      left === right || left.name == right.name && left.kind == right.kind && left.contents == right.contents
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(kind)
    }
  }

  /// The names of the scalars that each schema has.
  static let builtInScalars = ["Int", "Float", "String", "Boolean", "ID"]
}

/// The parts of a type. A builder fills them in; a type of each kind has its own ones.
struct TypeContents: Sendable, Hashable {
  var description: String?
  var appliedDirectives: [Schema.AppliedDirective] = []
  var interfaces = NamedList<Schema.TypeReference>()
  var fields = NamedList<Schema.Field>()
  var members = NamedList<Schema.TypeReference>()
  var values = NamedList<Schema.EnumValue>()
  var inputFields = NamedList<Schema.InputValue>()
  var specifiedByURL: String?
  var isOneOf = false
  var location = Uncompared<Schema.Location?>(nil)
}
