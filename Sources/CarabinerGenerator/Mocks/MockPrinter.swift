internal import CarabinerSchema

/// Prints the object types of mocks.
struct MockPrinter {
  private let schema: Schema
  private let access: String
  private var names: TypeNames
  private(set) var problems: [GeneratorProblem] = []

  init(schema: Schema, access: GeneratorConfiguration.Access, names: TypeNames) {
    self.schema = schema
    self.access = access == .internal ? "" : access.rawValue + " "
    self.names = names
  }

  /// A field as a property.
  private struct Member {
    let property: String
    let key: String
    let type: String
    /// The arguments of the field after its key.
    let arguments: String
  }

  mutating func print(_ object: Schema.NamedType, _ fields: [[MockFields.Field]], to writer: inout CodeWriter) {
    let members = members(of: object, fields)
    let name = names.naming.mock(object.name)
    writer.emptyLine()
    writer.begin("\(access)struct \(name): MockObject")
    writer.line("\(access)static let typeName = \(SwiftLiteral.string(object.name))")
    for member in members {
      let key = SwiftLiteral.string(member.key)
      writer.line(
        "\(access)let \(SwiftNames.escaped(member.property)) = MockField<\(member.type)>(\(key)\(member.arguments))")
    }
    writer.line("\(access)init() {}")
    writer.end()
    if members.isEmpty { return }
    writer.emptyLine()
    writer.begin("extension Mock where Object == \(name)")
    // Even in backticks, `self` is the whole value and not a property or parameter.
    var value = "value"
    while members.contains(where: { $0.property == value }) { value += "_" }
    let parameters = members.map { member in
      SwiftNames.escaped(member.property) + (member.property == "self" ? " \(value)" : "") + ": \(member.type)? = nil"
    }
    writer.function("\(access)convenience init", parameters) { writer in
      let values = members.map { member in
        "\(SwiftLiteral.string(member.key)): \(member.property == "self" ? value : SwiftNames.escaped(member.property))"
      }
      writer.list("self.init(__values: ", values, ")")
    }
    writer.end()
  }

  private mutating func members(of object: Schema.NamedType, _ fields: [[MockFields.Field]]) -> [Member] {
    var members: [Member] = []
    var known: [String: String] = [:]
    for fields in fields {
      let found = fields.map { member(of: object, $0) }
      guard let member = found.first, let place = fields.first?.node.place else { continue }
      let coordinate = "\(object.name).\(member.key)"
      if let index = found.firstIndex(where: { $0.type != member.type || $0.arguments != member.arguments }) {
        problems.append(
          fields[index].node.place.problem(
            "\(coordinate) is \(member.type) at \(place.file):\(place.line) and \(found[index].type) here, and a mock has one type for it; use another alias"
          ))
      }
      let remedy = "rename it with the key renames: {\(coordinate): NAME}"
      if !SwiftNames.isIdentifier(member.property) {
        problems.append(place.problem("\(coordinate) cannot be named \(member.property) in Swift; \(remedy)"))
      } else if let other = known.updateValue(member.key, forKey: member.property) {
        problems.append(
          place.problem("\(coordinate) and \(object.name).\(other) would both be named \(member.property) in a mock; \(remedy)"))
      }
      members.append(member)
    }
    return members.sorted { $0.property.utf8.lexicographicallyPrecedes($1.property.utf8) }
  }

  private mutating func member(of object: Schema.NamedType, _ field: MockFields.Field) -> Member {
    let type = field.definition.type
    var arguments = names.coding(type).map { ", as: \(type.isNonNull ? $0 : String($0.dropLast())).self" } ?? ""
    if field.node.name == "__typename" {
      arguments = ", example: \(SwiftLiteral.string(object.name))"
    } else if let named = schema.type(of: type), named.kind == .interface || named.kind == .union,
      let first = schema.possibleTypes(of: named).first
    {
      var example = "Mock<\(names.naming.mock(first.name))>()"
      var list = type.element
      while let element = list { (example, list) = ("[\(example)]", element.element) }
      arguments = ", example: \(example)"
    }
    return Member(
      property: names.naming.property(of: field.node, in: object), key: field.node.responseKey, type: names.input(type),
      arguments: arguments)
  }
}
