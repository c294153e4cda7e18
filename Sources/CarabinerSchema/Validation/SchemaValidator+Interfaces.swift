extension SchemaValidator {
  /// IsValidImplementation of the specification.
  mutating func checkImplementation(of reference: Schema.TypeReference, by type: Schema.NamedType) {
    guard let interface = known(reference, in: "an interface of \(type.name)", type.name) else { return }
    let place = reference.location ?? type.location
    guard interface.kind == .interface else {
      return report(
        .implementedInterfaces, type.name,
        "\(type.name) implements \(interface.name), defined as \(interface.kind.word); only an interface can be implemented",
        at: place)
    }
    // A cycle of interfaces is reported once for the cycle.
    if interface.name == type.name { return }
    for inherited in interface.interfaces where !isFull && inherited.name != type.name {
      guard type.contents.interfaces[inherited.name] == nil else { continue }
      report(
        .interfaceImplementations, type.name,
        "\(type.name) implements \(interface.name), which implements \(inherited.name); add \(inherited.name) to its interfaces",
        at: place)
    }
    for expected in interface.fields where !isFull {
      guard let field = type.field(named: expected.name) else {
        report(
          .interfaceImplementations, "\(type.name).\(expected.name)",
          "\(type.name) has no field \(expected.name) of its interface \(interface.name); add \(expected.name): \(expected.type)",
          at: place)
        continue
      }
      check(field, of: type, against: expected, of: interface)
    }
  }

  private mutating func check(
    _ field: Schema.Field, of type: Schema.NamedType, against expected: Schema.Field, of interface: Schema.NamedType
  ) {
    let coordinate = { "\(type.name).\(field.name)" }
    let other = { "\(interface.name).\(expected.name)" }
    if !isSubtype(field.type, of: expected.type) {
      report(
        .interfaceImplementations, coordinate(),
        "\(coordinate()) has the type \(field.type), and \(other()) has \(expected.type); use this type, or one that fits it",
        at: field.type.location ?? field.location)
    }
    for expectedArgument in expected.arguments where !isFull {
      guard let argument = field.argument(named: expectedArgument.name) else {
        report(
          .interfaceImplementations, coordinate(),
          "\(coordinate()) has no argument \(expectedArgument.name) of \(other()); add \(expectedArgument.name): \(expectedArgument.type)",
          at: field.location)
        continue
      }
      if argument.type != expectedArgument.type {
        report(
          .interfaceImplementations, "\(coordinate())(\(argument.name):)",
          "the argument \(argument.name) of \(coordinate()) has the type \(argument.type); use \(expectedArgument.type) as \(other()) does",
          at: argument.type.location ?? argument.location)
      }
    }
    for argument in field.arguments where argument.isRequired && expected.argument(named: argument.name) == nil {
      report(
        .interfaceImplementations, "\(coordinate())(\(argument.name):)",
        "the argument \(argument.name) of \(coordinate()) is required, and \(other()) does not have it; make it optional",
        at: argument.location)
    }
    if field.deprecationReason != nil, expected.deprecationReason == nil {
      report(
        .interfaceImplementations, coordinate(),
        "\(coordinate()) is deprecated, and \(other()) of its interface is not; deprecate both or none", at: field.location)
    }
  }

  /// IsValidImplementationFieldType of the specification.
  private func isSubtype(_ type: Schema.TypeReference, of expected: Schema.TypeReference) -> Bool {
    var (type, expected) = (type, expected)
    while true {
      if expected.isNonNull, !type.isNonNull { return false }
      (type, expected) = (type.nullable, expected.nullable)
      guard let element = type.element, let expectedElement = expected.element else { break }
      (type, expected) = (element, expectedElement)
    }
    if type.isList || expected.isList { return false }
    if type.name == expected.name { return true }
    guard let named = schema.type(of: type), let other = schema.type(of: expected) else {
      // A type that is not defined is reported by its own rule.
      return true
    }
    switch (named.kind, other.kind) {
    case (.object, .union): return schema.object(named.name, fits: other.name) == true
    case (.object, .interface), (.interface, .interface): return named.contents.interfaces[other.name] != nil
    default: return false
    }
  }
}
