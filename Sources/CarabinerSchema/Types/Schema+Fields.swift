public import CarabinerWire

extension Schema {
  /// A field of an object type or an interface.
  public struct Field: Named {
    /// The name.
    public let name: String
    /// The description for readers; nil if it has none.
    public let description: String?
    /// The type.
    public let type: TypeReference
    /// The reason of `@deprecated`; nil if the field is not deprecated.
    public let deprecationReason: String?
    /// The directives on the field, in order, without `@deprecated`.
    public let appliedDirectives: [AppliedDirective]
    let argumentList: NamedList<InputValue>
    let place: Uncompared<Location?>

    /// The arguments, in order.
    public var arguments: [InputValue] { argumentList.elements }
    /// The place of the definition; nil if the field is not from a text.
    public var location: Location? { place.value }

    /// The argument of this name.
    public func argument(named name: String) -> InputValue? { argumentList[name] }

    /// `__typename`, which each object type, interface and union has in addition to its own fields.
    package static let typeName = Field(
      name: "__typename", description: nil,
      type: TypeReference(name: "String", id: Schema.builtInScalars.firstIndex(of: "String") ?? 0, marks: 1),
      deprecationReason: nil,
      appliedDirectives: [], argumentList: NamedList(), place: Uncompared(nil))

    /// Whether it can be selected without arguments.
    public var needsNoArguments: Bool { !arguments.contains(where: \.isRequired) }
  }

  /// An argument of a field or a directive, or a field of an input object.
  public struct InputValue: Named {
    /// The name.
    public let name: String
    /// The description for readers; nil if it has none.
    public let description: String?
    /// The type.
    public let type: TypeReference
    /// The value that is used if none is given; nil if there is none.
    public let defaultValue: GraphQLDocument.Value?
    /// The reason of `@deprecated`; nil if it is not deprecated.
    public let deprecationReason: String?
    /// The directives on it, in order, without `@deprecated`.
    public let appliedDirectives: [AppliedDirective]
    let place: Uncompared<Location?>

    /// The place of the definition; nil if it is not from a text.
    public var location: Location? { place.value }

    /// Whether a value must be given.
    public var isRequired: Bool { type.isNonNull && defaultValue == nil }
  }

  /// A value of an enumeration.
  public struct EnumValue: Named {
    /// The name.
    public let name: String
    /// The description for readers; nil if it has none.
    public let description: String?
    /// The reason of `@deprecated`; nil if it is not deprecated.
    public let deprecationReason: String?
    /// The directives on it, in order, without `@deprecated`.
    public let appliedDirectives: [AppliedDirective]
    let place: Uncompared<Location?>

    /// The place of the definition; nil if it is not from a text.
    public var location: Location? { place.value }
  }

  /// A place in a text of a schema.
  public struct Location: Sendable, Hashable, CustomStringConvertible {
    /// The name of the file; empty for a text without a name.
    public let file: String
    private let storedLine: Int32
    private let storedColumn: Int32

    /// Creates a place; line and column are counted from 1, the column in Unicode characters.
    public init(file: String, line: Int, column: Int) {
      self.file = file
      storedLine = Int32(clamping: line)
      storedColumn = Int32(clamping: column)
    }

    /// The line, counted from 1.
    public var line: Int { Int(storedLine) }
    /// The column in Unicode characters, counted from 1.
    public var column: Int { Int(storedColumn) }

    /// The place as compilers write it: `file:line:column`.
    public var description: String { (file.isEmpty ? "" : "\(file):") + "\(line):\(column)" }
  }
}
