public import CarabinerWire

extension Schema {
  /// A directive with its arguments, and the places where it may be used.
  public struct DirectiveDefinition: Named {
    /// The name, without the at sign.
    public let name: String
    /// The description for readers; nil if it has none.
    public let description: String?
    /// Whether it may be used several times at one place.
    public let isRepeatable: Bool
    /// The places where it may be used, in the order of the specification.
    public let locations: [DirectiveLocation]
    let argumentList: NamedList<InputValue>
    let place: Uncompared<Location?>

    /// The arguments, in order.
    public var arguments: [InputValue] { argumentList.elements }
    /// The place of the definition; nil if it is not from a text.
    public var location: Location? { place.value }

    /// The argument of this name.
    public func argument(named name: String) -> InputValue? { argumentList[name] }
  }

  /// A use of a directive in a schema.
  public struct AppliedDirective: Sendable, Hashable {
    /// The name, without the at sign.
    public let name: String
    /// The arguments, in order.
    public let arguments: [GraphQLDocument.Argument]
    let place: Uncompared<Location?>

    /// The place of the directive; nil if it is not from a text.
    public var location: Location? { place.value }

    /// The value of an argument; nil if it is not given.
    public func argument(named name: String) -> GraphQLDocument.Value? { arguments.first { $0.name == name }?.value }
  }

  /// A place in a document or a schema where a directive may be used.
  public enum DirectiveLocation: String, Sendable, Hashable, CaseIterable {
    case query = "QUERY"
    case mutation = "MUTATION"
    case subscription = "SUBSCRIPTION"
    case field = "FIELD"
    case fragmentDefinition = "FRAGMENT_DEFINITION"
    case fragmentSpread = "FRAGMENT_SPREAD"
    case inlineFragment = "INLINE_FRAGMENT"
    case variableDefinition = "VARIABLE_DEFINITION"
    case schema = "SCHEMA"
    case scalar = "SCALAR"
    case object = "OBJECT"
    case fieldDefinition = "FIELD_DEFINITION"
    case argumentDefinition = "ARGUMENT_DEFINITION"
    case interface = "INTERFACE"
    case union = "UNION"
    case enumeration = "ENUM"
    case enumValue = "ENUM_VALUE"
    case inputObject = "INPUT_OBJECT"
    case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
  }
}

extension Schema.DirectiveDefinition {
  /// The reason of `@deprecated` without an argument.
  static let defaultDeprecationReason = "No longer supported"

  /// The directives of the specification by name. Each schema has them.
  static let builtIn: [String: Schema.DirectiveDefinition] = {
    let condition = argument("if", "Boolean")
    return Dictionary(
      uniqueKeysWithValues: [
        directive("skip", [condition], [.field, .fragmentSpread, .inlineFragment]),
        directive("include", [condition], [.field, .fragmentSpread, .inlineFragment]),
        directive(
          "deprecated", [argument("reason", "String", default: .string(defaultDeprecationReason))],
          [.fieldDefinition, .argumentDefinition, .enumValue, .inputFieldDefinition]),
        directive("specifiedBy", [argument("url", "String")], [.scalar]),
        directive("oneOf", [], [.inputObject]),
      ])
  }()

  /// The directives for the stores of clients. A schema may use them without a definition.
  static let ofClients: Set<String> = ["fieldPolicy", "typePolicy"]

  /// `@defer` and `@stream` of the draft for incremental delivery, by name. Documents may use them with each schema.
  static let incremental: [String: Schema.DirectiveDefinition] = {
    let condition = argument("if", "Boolean", default: .boolean(true))
    let label = argument("label", "String", marks: 0)
    let count = argument("initialCount", "Int", default: .int(JSONNumber(0)))
    return Dictionary(
      uniqueKeysWithValues: [
        directive("defer", [condition, label], [.fragmentSpread, .inlineFragment]),
        directive("stream", [condition, label, count], [.field]),
      ])
  }()

  private static func argument(
    _ name: String, _ type: String, marks: UInt64 = 1, default value: GraphQLDocument.Value? = nil
  ) -> Schema.InputValue {
    let id = Schema.builtInScalars.firstIndex(of: type) ?? 0
    return Schema.InputValue(
      name: name, description: nil, type: Schema.TypeReference(name: type, id: id, marks: marks), defaultValue: value,
      deprecationReason: nil, appliedDirectives: [], place: Uncompared(nil))
  }

  private static func directive(
    _ name: String, _ arguments: [Schema.InputValue], _ locations: [Schema.DirectiveLocation]
  ) -> (String, Schema.DirectiveDefinition) {
    (
      name,
      Schema.DirectiveDefinition(
        name: name, description: nil, isRepeatable: false, locations: locations, argumentList: NamedList(arguments),
        place: Uncompared(nil))
    )
  }
}
