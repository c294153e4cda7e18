internal import CarabinerSchema
internal import CarabinerWire

/// A value does not match its type.
struct CoercionFault: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// Converts input values to the types of the schema.
struct InputCoercion {
  let schema: Schema

  /// The value of a variable of the request.
  func coerced(_ value: JSONValue, to type: GraphQLDocument.TypeReference) throws(CoercionFault) -> JSONValue {
    switch type {
    case .nonNull(let inner):
      guard !value.isNull else { throw CoercionFault("null is not of type \(type)") }
      return try coerced(value, to: inner)
    case _ where value.isNull: return .null
    case .list(let element):
      guard let elements = value.array else { return .array([try coerced(value, to: element)]) }
      var result: [JSONValue] = []
      for item in elements { result.append(try coerced(item, to: element)) }
      return .array(result)
    case .named(let name):
      if let fields = inputFields(of: name) {
        guard let object = value.object else { throw CoercionFault("a \(value.kind) is not of type \(name)") }
        return try coerced(object.members, to: fields, of: name) { (value, type) throws(CoercionFault) in
          try coerced(value, to: type)
        }
      }
      return try leaf(value, of: name)
    }
  }

  /// The fields of an input object, with default values added.
  func coerced<Value>(
    _ members: [(key: String, value: Value)], to fields: [Schema.InputValue], of type: String,
    _ coerce: (Value, GraphQLDocument.TypeReference) throws(CoercionFault) -> JSONValue?
  ) throws(CoercionFault) -> JSONValue {
    var names: Set<String> = []
    for (name, _) in members {
      guard fields.contains(where: { $0.name == name }) else {
        throw CoercionFault("\(type) has no field \(name.debugDescription)")
      }
      guard names.insert(name).inserted else { throw CoercionFault("\(name.debugDescription) is given twice") }
    }
    var result = JSONObject()
    for field in fields {
      if let member = members.first(where: { $0.key == field.name }),
        let value = try coerce(member.value, field.type.documentType)
      {
        result[field.name] = value
      } else if let value = field.defaultJSON {
        result[field.name] = value
      } else if field.isRequired {
        throw CoercionFault("\(type) needs the field \(field.name.debugDescription)")
      }
    }
    return .object(result)
  }

  /// The fields of an input object; nil if the type is another one.
  func inputFields(of type: String) -> [Schema.InputValue]? {
    schema.type(named: type).flatMap { $0.kind == .inputObject ? $0.inputFields : nil }
  }

  private func leaf(_ value: JSONValue, of type: String) throws(CoercionFault) -> JSONValue {
    let result: JSONValue? =
      switch (type, value) {
      case ("String", .string), ("Boolean", .bool): value
      case ("ID", .string): value
      case ("ID", .number(let number)): number.int.map { .string(String($0)) }
      case ("Int", .number(let number)): number.int.flatMap(Int32.init(exactly:)).map { .number(JSONNumber(Int($0))) }
      case ("Float", .number(let number)): number.double.isFinite ? value : nil
      case (_, .string(let text)): schema.type(named: type)?.value(named: text).map { _ in value }
      default: nil
      }
    guard let result else { throw CoercionFault("\(Self.short(value.description)) is not of type \(type)") }
    return result
  }

  /// A text from a request, shortened for a message.
  static func short(_ text: String) -> String { text.count <= 60 ? text : text.prefix(59) + "…" }
}
