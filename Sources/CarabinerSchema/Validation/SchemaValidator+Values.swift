internal import CarabinerWire

extension SchemaValidator {
  /// The reason why a constant value does not fit a type; nil if it does. Only the first reason is found.
  mutating func fault(of value: GraphQLDocument.Value, for reference: Schema.TypeReference) -> String? {
    if case .null = value { return reference.isNonNull ? "null is not of type \(reference)" : nil }
    if let element = reference.element {
      // One value is a list of one.
      guard case .list(let elements) = value else { return fault(of: value, for: element) }
      for value in elements {
        if let fault = fault(of: value, for: element) { return fault }
      }
      return nil
    }
    // A type that is not defined, or not for values, is reported by its own rule.
    guard let type = schema.type(of: reference), type.isInput else { return nil }
    if type.kind == .inputObject, case .object(let members) = value { return fault(of: members, for: type) }
    return Self.isValid(value, of: type) ? nil : "\(value.shortText) is not of type \(type.name)"
  }

  /// Whether a value is one of a scalar or an enumeration. Scalars of the schema accept each value.
  static func isValid(_ value: GraphQLDocument.Value, of type: Schema.NamedType) -> Bool {
    switch (type.name, value) {
    case _ where type.kind == .inputObject: false
    case (_, .enumeration(let name)) where type.kind == .enumeration: type.value(named: name) != nil
    case _ where type.kind == .enumeration: false
    case ("Int", .int(let number)): Int32(number.lexeme) != nil
    case ("Float", .int(let number)), ("Float", .float(let number)): number.double.isFinite
    case ("String", .string), ("Boolean", .boolean), ("ID", .string), ("ID", .int): true
    case _ where type.isBuiltIn: false
    default: true
    }
  }

  private mutating func fault(of members: [GraphQLDocument.Argument], for type: Schema.NamedType) -> String? {
    var given: Set<String> = []
    for member in members {
      guard let field = type.inputField(named: member.name) else { return "\(type.name) has no field \(member.name)" }
      guard given.insert(member.name).inserted else { return "the field \(member.name) is given twice" }
      if let fault = fault(of: member.value, for: field.type) { return fault }
    }
    if type.isOneOf {
      return members.count == 1 && members.allSatisfy { $0.value != .null }
        ? nil : "a value of \(type.name) has exactly one field, which is not null"
    }
    return requiredNames(type.name) { type.inputFields }.first { !given.contains($0) }
      .map { "\(type.name) needs the field \($0)" }
  }
}

extension GraphQLDocument.Value {
  /// The most bytes of a value in a message.
  private static var maximumTextBytes: Int { 60 }

  /// The value for a message.
  var shortText: String {
    let text = description
    return text.utf8.count <= Self.maximumTextBytes ? text : text.prefix(Self.maximumTextBytes) + "…"
  }
}
