internal import CarabinerSchema

/// Writes the names of types, and notes what they need.
struct TypeNames {
  private let schema: Schema
  let naming: Naming
  /// The names of the types around the place, from outside.
  private var scopes: [Set<String>] = []
  /// The types at the top level that a type of the same name hides somewhere.
  private(set) var hidden: Set<String> = []
  private(set) var usedTypes: Set<String> = []
  /// The interfaces and unions whose object types are needed, by their names.
  private(set) var possibleTypes: Set<String> = []

  init(schema: Schema, naming: Naming) {
    self.schema = schema
    self.naming = naming
  }

  /// Enters a type with these types in it.
  mutating func enter(_ names: some Sequence<String>) { scopes.append(Set(names)) }

  /// Leaves the type that was entered last.
  mutating func leave() { _ = scopes.popLast() }

  /// The name of a type at the top level. A name that is hidden is replaced by one with two underscores.
  mutating func global(_ name: String) -> String {
    guard scopes.contains(where: { $0.contains(name) }) else { return name }
    hidden.insert(name)
    return "__" + name
  }

  /// The type of a property with a field of an object.
  mutating func output(_ field: FieldShape) -> String {
    let leaf: String
    switch field.leaf {
    case .builtIn(let name): leaf = name
    case .object(let name, _): leaf = name
    case .scalar(let name): leaf = scalar(name)
    case .enumeration(let name): leaf = enumeration(name)
    }
    let type = wrapped(leaf, field.definition.type)
    return field.isConditional && field.definition.type.isNonNull ? type + "?" : type
  }

  /// The type of a variable, a field of an input object, or a field of a mock, without the outer nullability.
  mutating func input(_ type: Schema.TypeReference) -> String {
    let leaf: String
    switch schema.type(of: type)?.kind {
    case .enumeration: leaf = enumeration(type.name)
    case .inputObject:
      usedTypes.insert(type.name)
      leaf = global(naming.inputObject(type.name))
    case .object: leaf = "Mock<\(naming.mock(type.name))>"
    case .interface, .union: leaf = "(any AnyMock)"
    default: leaf = naming.builtIn(type.name) ?? scalar(type.name)
    }
    let text = wrapped(leaf, type)
    return type.isNonNull ? text : String(text.dropLast())
  }

  /// The type that reads and writes the values of a field or an argument; nil if they do so themselves.
  ///
  /// - Parameters:
  ///   - isInput: Whether the value is a variable or a field of an input object, which may be left out.
  ///   - hasDefault: Whether the schema or the document has a default value for it.
  func coding(_ type: Schema.TypeReference, isInput: Bool = false, hasDefault: Bool = false) -> String? {
    guard let coding = naming.configuration.scalars[type.name]?.coding, schema.type(of: type)?.kind == .scalar else { return nil }
    let text = wrapped(coding, type)
    guard isInput else { return text }
    if type.isNonNull { return hasDefault ? text + "?" : text }
    return "GraphQLNullable<\(text.dropLast())>"
  }

  /// The argument for objects of a type.
  mutating func condition(_ type: Schema.NamedType) -> String {
    if type.kind == .object { return SwiftLiteral.string(type.name) }
    possibleTypes.insert(type.name)
    return "PossibleTypes." + possible(type.name)
  }

  /// The constant with the object types of an interface or a union.
  func possible(_ name: String) -> String {
    let constant = Words.decapitalized(name)
    // If another type has the name with a small first letter, this type keeps its own name.
    return SwiftNames.escaped(schema.type(named: constant) == nil ? constant : name)
  }

  private mutating func scalar(_ name: String) -> String {
    usedTypes.insert(name)
    return global(naming.scalar(name))
  }

  private mutating func enumeration(_ name: String) -> String {
    usedTypes.insert(name)
    return "GraphQLEnum<\(global(naming.enumeration(name)))>"
  }

  /// A name in the lists and with the nullability of a type.
  private func wrapped(_ name: String, _ type: Schema.TypeReference) -> String {
    let inner = type.element.map { "[\(wrapped(name, $0))]" } ?? name
    return type.isNonNull ? inner : inner + "?"
  }
}
