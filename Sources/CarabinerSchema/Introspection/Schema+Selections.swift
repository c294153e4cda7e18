internal import CarabinerWire

extension Schema {
  /// The field of a type that a selection names, also one for introspection; nil if there is none.
  package func field(_ name: String, selectedOn type: NamedType) -> Field? {
    if !name.hasPrefix("__") { return type.field(named: name) }
    if name == "__typename" { return type.isComposite ? Field.typeName : nil }
    guard rootTypeName(of: .query) == type.name else { return type.field(named: name) }
    return Schema.introspection.field(name, of: "Query")
  }

  /// The type that a reference names, also one of introspection; nil if there is none.
  func selectedType(of reference: TypeReference) -> NamedType? {
    type(of: reference) ?? (reference.name.hasPrefix("__") ? Schema.introspection.type(named: reference.name) : nil)
  }

  /// The type of a name, also one of introspection; nil if there is none.
  package func selectedType(named name: String) -> NamedType? {
    type(named: name) ?? (name.hasPrefix("__") ? Schema.introspection.type(named: name) : nil)
  }
}
