internal import CarabinerWire

extension Schema: CustomStringConvertible {
  /// The schema in the schema definition language.
  var description: String {
    definitions.compactMap { name, type in Self.text(of: type, named: name) }.joined(separator: "\n\n") + "\n"
  }

  private static func text(of type: SchemaType, named name: String) -> String? {
    switch type {
    case .scalar: nil
    case .enumeration(let values): block("enum \(name)", values)
    case .input(let fields): block("input \(name)", fields.map(text))
    case .interface(let fields): block("interface \(name)", fields.map(text))
    case .union(let members): "union \(name) = \(members.joined(separator: " | "))"
    case .object(let fields, let interfaces):
      block(
        "type \(name)" + (interfaces.isEmpty ? "" : " implements \(interfaces.joined(separator: " & "))"), fields.map(text))
    }
  }

  private static func block(_ head: String, _ lines: [String]) -> String {
    "\(head) {\n" + lines.map { "  \($0)\n" }.joined() + "}"
  }

  private static func text(_ field: FieldDefinition) -> String {
    let arguments = field.arguments.isEmpty ? "" : "(\(field.arguments.map(text).joined(separator: ", ")))"
    return "\(field.name)\(arguments): \(field.type)"
  }

  private static func text(_ input: InputDefinition) -> String {
    "\(input.name): \(input.type)" + (input.defaultValue.map { " = \($0)" } ?? "")
  }
}
