internal import CarabinerSchema
internal import CarabinerWire

/// The Swift names of the parts of a schema and of documents.
struct Naming {
  let configuration: GeneratorConfiguration
  /// The types that read and write scalars, which types of fields must not hide.
  private let codings: Set<String>

  init(_ configuration: GeneratorConfiguration) {
    self.configuration = configuration
    codings = Set(configuration.scalars.values.compactMap { $0.coding.map { String($0.prefix { $0 != "." }) } })
  }

  private func renamed(_ key: String) -> String? { configuration.renames[key] }

  // MARK: Types

  func enumeration(_ name: String) -> String { renamed(name) ?? SwiftNames.type(name, ending: "Enum") }

  func inputObject(_ name: String) -> String { renamed(name) ?? SwiftNames.type(name, ending: "InputObject") }

  func scalar(_ name: String) -> String {
    if name == "ID" { return name }
    let isText = configuration.scalars[name] == nil
    return renamed(name) ?? (isText ? SwiftNames.textScalar(name) : SwiftNames.type(name, ending: "Scalar"))
  }

  /// The key of the configuration that renames a fragment. A type of the schema may have its name.
  static func renameKey(ofFragment name: String) -> String { "...\(name)" }

  private func renamedFragment(_ name: String) -> String? { renamed(Self.renameKey(ofFragment: name)) ?? renamed(name) }

  func fragment(_ name: String) -> String { renamedFragment(name) ?? SwiftNames.type(name, ending: "Fragment") }

  /// The type of an object for mocks. A fragment may have the name of the type as its key.
  func mock(_ name: String) -> String { renamed("Mock<\(name)>") ?? SwiftNames.type(name, ending: "Object") }

  /// The property for a fragment.
  func fragmentProperty(_ name: String) -> String { Words.decapitalized(renamedFragment(name) ?? name) }

  /// The name of an operation, with the kind of the operation at its end.
  func operation(_ name: String, _ type: Schema.OperationType, isLocal: Bool) -> String {
    if let renamed = renamed(name) { return renamed }
    let ending = isLocal ? "LocalCacheMutation" : Words.capitalized(type.rawValue)
    let name = Words.capitalized(name)
    return name.hasSuffix(ending) ? name : name + ending
  }

  /// The Swift type of a scalar of the specification, except ID; nil for a custom scalar.
  func builtIn(_ name: String) -> String? {
    switch name {
    case "Int": "Int"
    case "Float": "Double"
    case "String": "String"
    case "Boolean": "Bool"
    default: nil
    }
  }

  // MARK: Members

  /// The key of the configuration that renames a property.
  func renameKey(of field: FieldNode, in type: Schema.NamedType) -> String { "\(type.name).\(field.responseKey)" }

  func property(of field: FieldNode, in type: Schema.NamedType) -> String {
    renamed(renameKey(of: field, in: type)) ?? Words.property(field.responseKey)
  }

  /// The type of the objects of a field.
  func child(_ property: String, isList: Bool) -> String {
    let ending = "SelectionSet"
    let name = SwiftNames.type(isList ? Singular.of(property) : property, ending: ending)
    // Capitalizing a name without letters does not change it, so the type would have the name of the property.
    return name == property || codings.contains(name) ? "\(name)_\(ending)" : name
  }

  /// The type of an inline fragment with `@defer`.
  func deferred(_ label: String) -> String { SwiftNames.type(label, ending: "Deferred") }

  /// The property for a fragment that does not always hold, as in `asDroid` or `ifIncludeDetails`.
  func view(_ type: Schema.NamedType?, _ conditions: [Condition]) -> String {
    let words = conditions.map { ($0.isSkip ? "Not" : "") + Words.capitalized($0.variable) }.joined(separator: "And")
    let condition = words.isEmpty ? "" : "If" + words
    return type.map { "as" + Words.capitalized($0.name) + condition } ?? Words.decapitalized(condition)
  }

  func variable(_ name: String, of operation: String) -> String {
    renamed("\(operation).$\(name)") ?? Words.property(name)
  }

  func inputField(_ name: String, of type: String) -> String { renamed("\(type).\(name)") ?? Words.camelCased(name) }

  func enumCase(_ name: String, of type: String) -> String { renamed("\(type).\(name)") ?? Words.camelCased(name) }
}
