internal import CarabinerWire

extension [Schema.AppliedDirective] {
  // The schema has these directives as properties, as introspection does. A directive with other arguments stays, and validation
  // reports it.

  /// Removes `@deprecated` and returns its reason; nil if there is none.
  mutating func removeDeprecation() -> String? {
    if isEmpty { return nil }
    return remove("deprecated") { directive in
      if directive.arguments.isEmpty { return Schema.DirectiveDefinition.defaultDeprecationReason }
      return directive.onlyText(named: "reason")
    }
  }

  /// Removes `@specifiedBy` and returns its URL; nil if there is none.
  mutating func removeSpecification() -> String? { remove("specifiedBy") { $0.onlyText(named: "url") } }

  /// Removes `@oneOf` and returns whether there was one.
  mutating func removeOneOf() -> Bool { remove("oneOf") { $0.arguments.isEmpty ? true : nil } ?? false }

  private mutating func remove<Value>(_ name: String, _ value: (Schema.AppliedDirective) -> Value?) -> Value? {
    guard let position = firstIndex(where: { $0.name == name }), let value = value(self[position]) else { return nil }
    remove(at: position)
    return value
  }
}

extension Schema.AppliedDirective {
  /// The text of the only argument; nil if the arguments are others.
  fileprivate func onlyText(named name: String) -> String? {
    guard arguments.count == 1, let value = argument(named: name), case .string(let text) = value else { return nil }
    return text
  }
}
