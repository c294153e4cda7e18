extension SchemaValidator {
  mutating func check(_ type: Schema.NamedType) {
    checkName(type.name, type.name, at: type.location)
    checkDirectives(of: type)
    switch type.kind {
    case .scalar: break
    case .object, .interface:
      checkIsNotEmpty(type, type.fields.isEmpty, "a field")
      for field in type.fields where !isFull { check(field, of: type) }
      for interface in type.interfaces where !isFull { checkImplementation(of: interface, by: type) }
    case .union:
      checkIsNotEmpty(type, type.members.isEmpty, "a member")
      for member in type.members where !isFull { check(member: member, of: type) }
    case .enumeration:
      checkIsNotEmpty(type, type.values.isEmpty, "a value")
      for value in type.values where !isFull { check(value, of: type) }
    case .inputObject:
      checkIsNotEmpty(type, type.inputFields.isEmpty, "a field")
      for field in type.inputFields where !isFull {
        check(field, "\(type.name).\(field.name)", on: .inputFieldDefinition)
        if type.isOneOf { checkOneOf(field, of: type) }
      }
    }
  }

  private mutating func checkDirectives(of type: Schema.NamedType) {
    if type.appliedDirectives.isEmpty { return }
    let location: Schema.DirectiveLocation =
      switch type.kind {
      case .scalar: .scalar
      case .object: .object
      case .interface: .interface
      case .union: .union
      case .enumeration: .enumeration
      case .inputObject: .inputObject
      }
    check(
      type.appliedDirectives, on: location, of: type.name, at: type.location, isSpecified: type.specifiedByURL != nil,
      isOneOf: type.isOneOf)
  }

  private mutating func checkIsNotEmpty(_ type: Schema.NamedType, _ isEmpty: Bool, _ part: String) {
    guard isEmpty else { return }
    report(.nonEmptyTypes, type.name, "\(type.name) is empty; add \(part), or remove the type", at: type.location)
  }

  private mutating func check(_ field: Schema.Field, of type: Schema.NamedType) {
    if field.name.hasPrefix("__") { checkName(field.name, "\(type.name).\(field.name)", at: field.location) }
    if let fieldType = known(field.type, in: "\(type.name).\(field.name)", "\(type.name).\(field.name)"), !fieldType.isOutput {
      report(
        .outputTypes, "\(type.name).\(field.name)",
        "\(type.name).\(field.name) has the type \(fieldType.name), which is for arguments only; use a type for results",
        at: field.type.location ?? field.location)
    }
    for argument in field.arguments where !isFull {
      check(argument, "\(type.name).\(field.name)(\(argument.name):)", on: .argumentDefinition)
    }
    if field.appliedDirectives.isEmpty { return }
    check(
      field.appliedDirectives, on: .fieldDefinition, of: "\(type.name).\(field.name)", at: field.location,
      isDeprecated: field.deprecationReason != nil)
  }

  private mutating func check(member: Schema.TypeReference, of union: Schema.NamedType) {
    guard let type = known(member, in: "a member of the union \(union.name)", union.name), type.kind != .object else { return }
    report(
      .unionMembers, union.name,
      "the member \(type.name) of the union \(union.name) is defined as \(type.kind.word); a member is an object type, defined as type",
      at: member.location ?? union.location)
  }

  private mutating func check(_ value: Schema.EnumValue, of type: Schema.NamedType) {
    if value.name.hasPrefix("__") { checkName(value.name, "\(type.name).\(value.name)", at: value.location) }
    if ["true", "false", "null"].contains(value.name) {
      report(
        .reservedNames, "\(type.name).\(value.name)",
        "the value \(value.name) of \(type.name) would be read as a Boolean or null; rename it", at: value.location)
    }
    if value.appliedDirectives.isEmpty { return }
    check(
      value.appliedDirectives, on: .enumValue, of: "\(type.name).\(value.name)", at: value.location,
      isDeprecated: value.deprecationReason != nil)
  }

  private mutating func checkOneOf(_ field: Schema.InputValue, of type: Schema.NamedType) {
    let coordinate = "\(type.name).\(field.name)"
    if field.type.isNonNull {
      report(
        .oneOfFields, coordinate,
        "\(coordinate) is required, but \(type.name) has @oneOf; remove the exclamation mark of its type",
        at: field.location)
    }
    if field.defaultValue != nil {
      report(
        .oneOfFields, coordinate, "\(coordinate) has a default value, but \(type.name) has @oneOf; remove the default value",
        at: field.location)
    }
  }
}
