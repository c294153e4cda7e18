internal import CarabinerWire

extension SchemaValidator {
  /// The reason why a constant value does not fit a type; nil if it does. Only the first reason is found.
  mutating func fault(of value: GraphQLDocument.Value, for reference: Schema.TypeReference) -> String? {
    if case .null = value { return reference.isNonNull ? ValueFault.wrong("null", reference.description).message : nil }
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
    return type.accepts(value) ? nil : ValueFault.wrong(value.shortText, type.name).message
  }

  private mutating func fault(of members: [GraphQLDocument.Argument], for type: Schema.NamedType) -> String? {
    var given: Set<String> = []
    for member in members {
      guard let field = type.inputField(named: member.name) else {
        return ValueFault.unknownField(member.name, of: type.name).message
      }
      guard given.insert(member.name).inserted else { return "the field \(member.name) is given twice" }
      if let fault = fault(of: member.value, for: field.type) { return fault }
    }
    if !type.acceptsFields(count: members.count, hasNull: members.contains { $0.value == .null }) {
      return ValueFault.notOneField(type.name).message
    }
    return requiredNames.names(of: type.name, type.inputFields).first { !given.contains($0) }
      .map { ValueFault.missingField($0, of: type.name).message }
  }
}
