internal import CarabinerWire

extension SchemaValidator {
  /// Checks the directives on a part of the schema. The flags are for directives that the schema has as properties.
  mutating func check(
    _ directives: [Schema.AppliedDirective], on location: Schema.DirectiveLocation, of coordinate: String,
    at place: Schema.Location?, isDeprecated: Bool = false, isSpecified: Bool = false, isOneOf: Bool = false
  ) {
    var used: Set<String> = []
    if isDeprecated { used.insert("deprecated") }
    if isSpecified { used.insert("specifiedBy") }
    if isOneOf { used.insert("oneOf") }
    for directive in directives where !isFull {
      let place = directive.location ?? place
      guard let definition = schema.directive(named: directive.name) else {
        if Schema.DirectiveDefinition.ofClients.contains(directive.name) { continue }
        report(
          .knownDirectives, coordinate, "the directive @\(directive.name) is not defined; define it, or correct the name",
          at: place)
        continue
      }
      if !definition.locations.contains(location) {
        report(
          .knownDirectives, coordinate,
          "the directive @\(directive.name) is not allowed on \(location.rawValue); remove it, or add this location to its definition",
          at: place)
      }
      if !used.insert(directive.name).inserted, !definition.isRepeatable {
        report(
          .uniqueDirectivesPerLocation, coordinate,
          "the directive @\(directive.name) is used twice here; remove one, or define it as repeatable", at: place)
      }
      checkArguments(of: directive, definition, coordinate, at: place)
    }
  }

  private mutating func checkArguments(
    of directive: Schema.AppliedDirective, _ definition: Schema.DirectiveDefinition, _ coordinate: String,
    at place: Schema.Location?
  ) {
    var given: Set<String> = []
    for argument in directive.arguments where !isFull {
      if !given.insert(argument.name).inserted {
        report(
          .uniqueArgumentNames, coordinate, "the argument \(argument.name) of @\(directive.name) is given twice; remove one",
          at: place)
      }
      guard let expected = definition.argument(named: argument.name) else {
        report(
          .knownArgumentNames, coordinate, "the directive @\(directive.name) has no argument \(argument.name); remove it",
          at: place)
        continue
      }
      if let fault = fault(of: argument.value, for: expected.type) {
        report(
          .valuesOfCorrectType, coordinate,
          "the argument \(argument.name) of @\(directive.name) is not valid: \(fault); correct the value", at: place)
      }
    }
    let required = requiredNames.names(of: "@\(directive.name)", definition.arguments)
    if let missing = required.first(where: { !given.contains($0) }) {
      report(
        .providedRequiredArguments, coordinate, "the directive @\(directive.name) needs the argument \(missing); add it",
        at: place)
    }
  }
}
