internal import CarabinerWire

extension DocumentCheck {
  /// Reads the directives of a part.
  ///
  /// - Parameters:
  ///   - parent: The type of the selection set that the part is in; nil if it is not known.
  ///   - list: Whether the part is a field with a list; nil if that is not known.
  /// - Returns: The places of `@skip` and `@include`.
  @discardableResult mutating func read(
    _ directives: [Document.Directive], on location: Schema.DirectiveLocation, in parent: Schema.NamedType? = nil,
    isList: Bool? = nil
  ) -> [Int] {
    var conditions: [Int] = []
    var first: [String: Int] = [:]
    for directive in directives {
      let offset = takePart()
      let definition = definition(of: directive.name)
      if let definition, !definition.locations.contains(location) {
        let places = definition.locations.map(\.rawValue).joined(separator: ", ")
        report(
          .knownDirectives, "@\(directive.name) is not allowed on \(location.rawValue); it is for \(places)", at: offset)
      } else if definition == nil, let schema, !validator.clientDirectives.contains(directive.name) {
        let known = schema.directives.map(\.name) + Schema.DirectiveDefinition.builtIn.keys.sorted()
        report(
          .knownDirectives, "the schema has no directive @\(directive.name)\(suggestion(for: directive.name, among: known))",
          at: offset)
      }
      if let place = first[directive.name], definition.map({ !$0.isRepeatable }) ?? false {
        report(
          .uniqueDirectivesPerLocation, "@\(directive.name) is used twice at one place; use it once", at: place, offset)
      }
      if first[directive.name] == nil { first[directive.name] = offset }
      if directive.name == "skip" || directive.name == "include" { conditions.append(offset) }
      read(directive.arguments, of: "@\(directive.name)", definition?.argumentList, at: offset)
      if directive.name == "defer" || directive.name == "stream" {
        checkIncremental(directive, at: offset)
        checkRoot(directive.name, in: parent, at: offset)
      }
      if directive.name == "stream", isList == false {
        report(.streamDirectiveOnListField, "@stream is for lists only; remove it", at: offset)
      }
    }
    return conditions
  }

  private func definition(of name: String) -> Schema.DirectiveDefinition? {
    schema?.directive(named: name) ?? Schema.DirectiveDefinition.builtIn[name] ?? Schema.DirectiveDefinition.incremental[name]
  }

  /// Checks the label of `@defer` or `@stream`, and notes whether it can be switched off.
  private mutating func checkIncremental(_ directive: Document.Directive, at offset: Int) {
    switch directive.arguments.first(where: { $0.name == "label" })?.value {
    case .string(let label)?:
      if let other = labels[label] {
        report(
          .deferStreamDirectiveLabel, "two @defer or @stream have the label \(label.debugDescription); change one", at: other,
          offset)
      } else {
        labels[label] = offset
      }
    case .variable?:
      report(.deferStreamDirectiveLabel, "the label of @\(directive.name) is a variable; write a text", at: offset)
    default: break
    }
    switch directive.arguments.first(where: { $0.name == "if" })?.value {
    case .variable?, .boolean(false)?: break
    default: definitions[current].incremental.append(offset)
    }
  }

  /// Checks `@defer` or `@stream` on a root field, or on a fragment beside root fields.
  private mutating func checkRoot(_ name: String, in parent: Schema.NamedType?, at offset: Int) {
    guard let schema, let parent else { return }
    for operation in [Schema.OperationType.mutation, .subscription] where schema.rootTypeName(of: operation) == parent.name {
      report(
        .deferStreamDirectiveOnRootField,
        "@\(name) is not allowed on the root fields of a \(operation.rawValue); use it further inside", at: offset)
    }
  }
}

extension Schema.DirectiveLocation {
  init(_ operation: Schema.OperationType) {
    self =
      switch operation {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
  }
}
