package import CarabinerWire

/// An object of an introspection result: a part of a schema.
package enum IntrospectionObject: Sendable {
  case schema
  case type(Schema.TypeReference)
  case field(Schema.Field)
  case inputValue(Schema.InputValue)
  case enumValue(Schema.EnumValue)
  case directive(Schema.DirectiveDefinition)

  /// The name of the object's type.
  package var typeName: String {
    switch self {
    case .schema: "__Schema"
    case .type: "__Type"
    case .field: "__Field"
    case .inputValue: "__InputValue"
    case .enumValue: "__EnumValue"
    case .directive: "__Directive"
    }
  }
}

/// The value of a field of introspection, before its selections are applied.
package enum IntrospectionValue: Sendable {
  case leaf(JSONValue)
  case object(IntrospectionObject)
  case list([IntrospectionValue])

  static let null = IntrospectionValue.leaf(.null)

  static func text(_ text: String?) -> IntrospectionValue { .leaf(text.map { .string($0) } ?? .null) }

  static func type(_ type: Schema.TypeReference?) -> IntrospectionValue { type.map { .object(.type($0)) } ?? .null }
}

extension Schema {
  /// The value of `__schema` or `__type` on the root type of queries; nil for another field.
  ///
  /// - Parameter arguments: The arguments with their default values.
  package func introspection(_ field: String, arguments: JSONObject) -> IntrospectionValue? {
    switch field {
    case "__schema": return .object(.schema)
    case "__type":
      let name = arguments["name"]?.string ?? ""
      let type = reference(to: name)
      return selectedType(of: type) == nil ? .null : .type(type)
    default: return nil
    }
  }

  /// The value of a field of an object of introspection.
  ///
  /// - Parameter arguments: The arguments with their default values.
  package func introspection(_ field: String, of object: IntrospectionObject, arguments: JSONObject) -> IntrospectionValue {
    let includesDeprecated = arguments["includeDeprecated"]?.bool == true
    switch object {
    case .schema: return introspection(field)
    case .type(let reference): return introspection(field, of: reference, includesDeprecated)
    case .field(let value):
      switch field {
      case "args": return Self.inputValues(value.arguments, includesDeprecated)
      case "type": return .type(value.type)
      default: return Self.member(field, value.name, value.description, value.deprecationReason)
      }
    case .inputValue(let value):
      switch field {
      case "type": return .type(value.type)
      case "defaultValue": return .text(value.defaultValue.map { "\($0)" })
      default: return Self.member(field, value.name, value.description, value.deprecationReason)
      }
    case .enumValue(let value): return Self.member(field, value.name, value.description, value.deprecationReason)
    case .directive(let directive):
      switch field {
      case "isRepeatable": return .leaf(.bool(directive.isRepeatable))
      case "locations": return .list(directive.locations.map { .text($0.rawValue) })
      case "args": return Self.inputValues(directive.arguments, includesDeprecated)
      default: return Self.member(field, directive.name, directive.description, nil)
      }
    }
  }

  private func reference(to name: String) -> TypeReference { TypeReference(name: name, id: storage.ids[name] ?? -1) }

  private func introspection(_ field: String) -> IntrospectionValue {
    switch field {
    case "description": return .text(description)
    case "types":
      let builtIn = Schema.builtInScalars.map { IntrospectionValue.type(reference(to: $0)) }
      let ownTypes = Schema.introspection.types.filter { $0.name.hasPrefix("__") }
      return .list(types.map { .type(reference(to: $0.name)) } + builtIn + ownTypes.map { .type(reference(to: $0.name)) })
    case "queryType": return .type(storage.rootTypes[.query])
    case "mutationType": return .type(storage.rootTypes[.mutation])
    case "subscriptionType": return .type(storage.rootTypes[.subscription])
    case "directives":
      let builtIn = DirectiveDefinition.builtIn.values.filter { storage.directives[$0.name] == nil }.sorted { $0.name < $1.name }
      return .list((directives + builtIn).map { .object(.directive($0)) })
    default: return .null
    }
  }

  private func introspection(_ field: String, of reference: TypeReference, _ includesDeprecated: Bool) -> IntrospectionValue {
    if reference.isNonNull {
      return field == "kind" ? .text("NON_NULL") : field == "ofType" ? .type(reference.nullable) : .null
    }
    if reference.isList { return field == "kind" ? .text("LIST") : field == "ofType" ? .type(reference.element) : .null }
    guard let type = selectedType(of: reference) else { return .null }
    let hasFields = type.kind == .object || type.kind == .interface
    switch field {
    case "kind": return .text(type.kind.rawValue)
    case "name": return .text(type.name)
    case "description": return .text(type.description)
    case "specifiedByURL": return .text(type.specifiedByURL)
    case "isOneOf": return type.kind == .inputObject ? .leaf(.bool(type.isOneOf)) : .null
    case "fields" where hasFields:
      return .list(type.fields.filter { includesDeprecated || $0.deprecationReason == nil }.map { .object(.field($0)) })
    case "interfaces" where hasFields: return .list(type.interfaces.map { .type($0) })
    case "possibleTypes" where type.kind == .interface || type.kind == .union:
      return .list(possibleTypes(of: type).map { .type(self.reference(to: $0.name)) })
    case "enumValues" where type.kind == .enumeration:
      return .list(type.values.filter { includesDeprecated || $0.deprecationReason == nil }.map { .object(.enumValue($0)) })
    case "inputFields" where type.kind == .inputObject: return Self.inputValues(type.inputFields, includesDeprecated)
    default: return .null
    }
  }

  private static func inputValues(_ values: [InputValue], _ includesDeprecated: Bool) -> IntrospectionValue {
    .list(values.filter { includesDeprecated || $0.deprecationReason == nil }.map { .object(.inputValue($0)) })
  }

  /// The members that most objects have.
  private static func member(
    _ field: String, _ name: String, _ description: String?, _ deprecationReason: String?
  ) -> IntrospectionValue {
    switch field {
    case "name": .text(name)
    case "description": .text(description)
    case "isDeprecated": .leaf(.bool(deprecationReason != nil))
    case "deprecationReason": .text(deprecationReason)
    default: .null
    }
  }
}
