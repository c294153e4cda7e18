internal import CarabinerWire

/// Reads an introspection result into a builder.
struct IntrospectionReader {
  /// The types of the introspection itself. Results list them, and texts do not.
  private static let introspectionTypes: Set<String> = [
    "__Schema", "__Type", "__Field", "__InputValue", "__EnumValue", "__TypeKind", "__Directive", "__DirectiveLocation",
  ]

  private(set) var builder: SchemaBuilder
  private let limits: SchemaLimits

  init(limits: SchemaLimits) {
    self.limits = limits
    builder = SchemaBuilder(limits: limits)
  }

  mutating func read(_ schema: JSONObject) throws(SchemaError) {
    builder.defineSchema(description: Self.description(of: schema), at: nil)
    for (operation, key) in [
      (Schema.OperationType.query, "queryType"), (.mutation, "mutationType"), (.subscription, "subscriptionType"),
    ] {
      guard let type = try object(schema[key], of: "__schema.\(key)") else { continue }
      builder.add(root: builder.reference(to: try name(type, of: "__schema.\(key)"), at: nil), of: operation)
    }
    guard let types = schema["types"]?.array else { throw Self.error("__schema", "it has no list of types") }
    for type in types { try readType(type) }
    for directive in try objects(schema["directives"], of: "__schema.directives") { try readDirective(directive) }
    if let name = builder.undefinedNames.first {
      throw SchemaError(
        .undefinedType, "the introspection result uses the type \(name) and does not define it; repeat it with a complete query")
    }
  }

  // MARK: Types

  private mutating func readType(_ json: JSONValue) throws(SchemaError) {
    guard let type = try object(json, of: "__schema.types") else { return }
    let name = try name(type, of: "__schema.types")
    if Self.introspectionTypes.contains(name) { return }
    guard let kind = type["kind"]?.string.flatMap(Schema.NamedType.Kind.init) else {
      throw Self.error(name, "its kind is not SCALAR, OBJECT, INTERFACE, UNION, ENUM or INPUT_OBJECT")
    }
    let id = builder.define(name, kind, description: Self.description(of: type), at: nil)
    switch kind {
    case .scalar:
      // A draft of 2020 wrote the last word differently.
      let url = (type["specifiedByURL"] ?? type["specifiedByUrl"])?.string
      builder.change(id) { $0.specifiedByURL = url }
    case .object, .interface:
      for interface in try objects(type["interfaces"], of: name) {
        builder.add(interface: builder.reference(to: try self.name(interface, of: "an interface of \(name)"), at: nil), to: id)
      }
      for field in try objects(type["fields"], of: name) { builder.add(try self.field(field, of: name), to: id) }
    case .union:
      for member in try objects(type["possibleTypes"], of: name) {
        builder.add(member: builder.reference(to: try self.name(member, of: "a member of \(name)"), at: nil), to: id)
      }
    case .enumeration:
      for value in try objects(type["enumValues"], of: name) {
        builder.add(
          Schema.EnumValue(
            name: try self.name(value, of: "a value of \(name)"), description: Self.description(of: value),
            deprecationReason: Self.deprecation(of: value), appliedDirectives: [], place: Uncompared(nil)),
          to: id)
      }
    case .inputObject:
      let isOneOf = type["isOneOf"]?.bool == true
      builder.change(id) { $0.isOneOf = isOneOf }
      for field in try objects(type["inputFields"], of: name) {
        builder.add(inputField: try inputValue(field) { "\(name).\($0)" }, to: id)
      }
    }
  }

  private mutating func field(_ json: JSONObject, of type: String) throws(SchemaError) -> Schema.Field {
    let name = try name(json, of: "a field of \(type)")
    return Schema.Field(
      name: name, description: Self.description(of: json), type: try reference(json["type"]) { "\(type).\(name)" },
      deprecationReason: Self.deprecation(of: json), appliedDirectives: [],
      argumentList: try arguments(json["args"]) { "\(type).\(name)(\($0):)" }, place: Uncompared(nil))
  }

  private mutating func arguments(
    _ json: JSONValue?, _ coordinate: (String) -> String
  ) throws(SchemaError) -> NamedList<Schema.InputValue> {
    var arguments = NamedList<Schema.InputValue>()
    for argument in try objects(json, of: coordinate("")) {
      let argument = try inputValue(argument, coordinate)
      guard arguments.set(argument) != nil else { continue }
      let coordinate = coordinate(argument.name)
      builder.duplicate(.uniqueArgumentDefinitionNames, coordinate, "an argument \(coordinate)", first: nil, second: nil)
    }
    return arguments
  }

  private mutating func inputValue(
    _ json: JSONObject, _ coordinate: (String) -> String
  ) throws(SchemaError) -> Schema.InputValue {
    let name = try name(json, of: coordinate(""))
    var defaultValue: GraphQLDocument.Value?
    if let text = json["defaultValue"]?.string {
      do throws(GraphQLSyntaxError) {
        defaultValue = try Self.value(text, limits)
      } catch {
        throw Self.error(coordinate(name), "its default value \(text.prefix(60).debugDescription) is not a value: \(error)")
      }
    }
    return Schema.InputValue(
      name: name, description: Self.description(of: json), type: try reference(json["type"]) { coordinate(name) },
      defaultValue: defaultValue, deprecationReason: Self.deprecation(of: json), appliedDirectives: [], place: Uncompared(nil))
  }

  private static func value(_ text: String, _ limits: SchemaLimits) throws(GraphQLSyntaxError) -> GraphQLDocument.Value {
    var parser = try GraphQLParser(
      Array(text.utf8), limits: GraphQLLimits(maximumDepth: limits.maximumDepth, maximumTokens: limits.maximumTokens))
    let value = try parser.value(isConstant: true)
    guard parser.token.kind == .end else { throw parser.unexpected("the end of the value") }
    return value
  }

  /// Reads a type with its lists and exclamation marks, from the outside to the inside.
  private mutating func reference(
    _ json: JSONValue?, _ coordinate: () -> String
  ) throws(SchemaError) -> Schema.TypeReference {
    // Whether each list has an exclamation mark, and the part that follows.
    var lists: [Bool] = []
    var isNonNull = false
    var rest = json
    while let type = rest?.object {
      switch type["kind"]?.string {
      case "NON_NULL":
        if isNonNull { throw Self.error(coordinate(), "its type has two exclamation marks at one place") }
        isNonNull = true
      case "LIST":
        lists.append(isNonNull)
        isNonNull = false
        guard lists.count <= Schema.TypeReference.maximumListDepth else {
          throw SchemaError(
            .tooDeep, "the type of \(coordinate()) has more than \(Schema.TypeReference.maximumListDepth) lists around it")
        }
      default:
        var marks: UInt64 = isNonNull ? 1 : 0
        for (level, isNonNull) in lists.reversed().enumerated() where isNonNull { marks |= 1 << UInt64(level + 1) }
        return builder.reference(to: try name(type, of: coordinate()), listDepth: lists.count, marks: marks, at: nil)
      }
      rest = type["ofType"]
    }
    throw Self.error(
      coordinate(), "its type is incomplete; repeat the introspection with a query that asks for more levels of ofType")
  }

  // MARK: Directives

  private mutating func readDirective(_ json: JSONObject) throws(SchemaError) {
    let name = try name(json, of: "__schema.directives")
    builder.add(
      Schema.DirectiveDefinition(
        name: name, description: Self.description(of: json), isRepeatable: json["isRepeatable"]?.bool == true,
        locations: Self.locations(of: json), argumentList: try arguments(json["args"]) { "@\(name)(\($0):)" },
        place: Uncompared(nil)))
  }

  private static func locations(of json: JSONObject) -> [Schema.DirectiveLocation] {
    var known: Set<Schema.DirectiveLocation> = []
    if let names = json["locations"]?.array {
      // Later editions may add locations.
      known = Set(names.compactMap { $0.string.flatMap(Schema.DirectiveLocation.init) })
    } else {
      // The members of the first editions.
      if json["onOperation"]?.bool == true { known.formUnion([.query, .mutation, .subscription]) }
      if json["onFragment"]?.bool == true { known.formUnion([.fragmentDefinition, .fragmentSpread, .inlineFragment]) }
      if json["onField"]?.bool == true { known.insert(.field) }
    }
    return Schema.DirectiveLocation.allCases.filter(known.contains)
  }

  // MARK: Members

  private static func error(_ coordinate: String, _ message: String) -> SchemaError {
    SchemaError(.notIntrospection, "the introspection result has a fault at \(coordinate): \(message)")
  }

  /// The name of a part.
  private func name(_ json: JSONObject, of part: @autoclosure () -> String) throws(SchemaError) -> String {
    guard let name = json["name"]?.string, GraphQLName.isValid(name) else {
      throw Self.error(part(), "a name is missing or not valid")
    }
    return name
  }

  /// An object; nil for null and for a missing member.
  private func object(_ json: JSONValue?, of part: @autoclosure () -> String) throws(SchemaError) -> JSONObject? {
    guard let json, !json.isNull else { return nil }
    guard let object = json.object else { throw Self.error(part(), "a \(json.kind) is in place of an object") }
    return object
  }

  /// The objects of a list; none for null and for a missing member.
  private func objects(_ json: JSONValue?, of part: @autoclosure () -> String) throws(SchemaError) -> [JSONObject] {
    guard let json, !json.isNull else { return [] }
    guard let elements = json.array else { throw Self.error(part(), "a \(json.kind) is in place of a list") }
    var objects: [JSONObject] = []
    objects.reserveCapacity(elements.count)
    for element in elements {
      guard let object = element.object else { throw Self.error(part(), "a \(element.kind) is in place of an object") }
      objects.append(object)
    }
    return objects
  }

  private static func description(of json: JSONObject) -> String? {
    guard let text = json["description"]?.string, !text.isEmpty else { return nil }
    return text
  }

  private static func deprecation(of json: JSONObject) -> String? {
    guard json["isDeprecated"]?.bool == true else { return nil }
    return json["deprecationReason"]?.string ?? Schema.DirectiveDefinition.defaultDeprecationReason
  }
}
