internal import CarabinerSchema

/// Prints the enumerations and the input objects of a schema that documents use.
struct SchemaTypePrinter {
  private let schema: Schema
  private let access: String
  private let naming: Naming
  private let cycles: InputCycles
  var names: TypeNames
  private(set) var problems: [GeneratorProblem] = []

  init(schema: Schema, configuration: GeneratorConfiguration, names: TypeNames, cycles: InputCycles) {
    self.schema = schema
    access = configuration.access == .internal ? "" : configuration.access.rawValue + " "
    naming = names.naming
    self.names = names
    self.cycles = cycles
  }

  mutating func print(_ type: Schema.NamedType, to writer: inout CodeWriter) {
    writer.emptyLine()
    writer.documentation(type.description)
    switch type.kind {
    case .enumeration: printEnumeration(type, to: &writer)
    case .inputObject where type.isOneOf: printOneOf(type, to: &writer)
    case .inputObject: printInputObject(type, to: &writer)
    case .scalar, .object, .interface, .union: break
    }
  }

  private mutating func printEnumeration(_ type: Schema.NamedType, to writer: inout CodeWriter) {
    check(
      type, type.values.map { ($0.name, naming.enumCase($0.name, of: type.name)) }, type.values.map(\.location),
      reserved: ["allCases", "hashValue", "init", "rawValue", "self"])
    writer.begin("\(access)enum \(naming.enumeration(type.name)): String, CaseIterable, Sendable")
    for value in type.values {
      writer.documentation(value.description)
      writer.deprecation(value.deprecationReason)
      let name = naming.enumCase(value.name, of: type.name)
      let raw = name == value.name ? "" : " = " + SwiftLiteral.string(value.name)
      writer.line("case \(SwiftNames.escaped(name))\(raw)")
    }
    if type.values.contains(where: { $0.deprecationReason != nil }) {
      // Swift does not synthesize `allCases` if a case has an attribute. Raw values are used here, because the names of deprecated
      // cases would cause warnings.
      writer.emptyLine()
      let name = naming.enumeration(type.name)
      writer.list(
        "\(access)static let allCases: [\(name)] = ", type.values.map { SwiftLiteral.string($0.name) },
        ".compactMap(\(name).init(rawValue:))")
    }
    writer.end()
  }

  private mutating func printInputObject(_ type: Schema.NamedType, to writer: inout CodeWriter) {
    var members: [InputMember] = []
    for field in type.inputFields {
      var member = InputMember(
        key: field.name, property: naming.inputField(field.name, of: type.name), type: field.type,
        hasDefault: field.defaultValue != nil, names: &names)
      member.isBoxed = !field.type.isList && cycles.contains(type.name, field.type.name)
      member.description = field.description
      // A deprecated property needs a second, stored property, which cannot be combined with a property wrapper.
      member.deprecationReason = member.isBoxed ? nil : field.deprecationReason
      members.append(member)
    }
    let places = type.inputFields.map(\.location)
    // Swift stores a property wrapper under the name of the property with an underscore.
    let boxes = members.filter(\.isBoxed).map { "_" + $0.property }
    check(type, members.map { ($0.key, $0.property) }, places, reserved: Set(["hashValue", "self"] + boxes))
    writer.begin("\(access)struct \(naming.inputObject(type.name)): InputObject")
    let parameter = members.contains { $0.property == "object" } ? "fields" : "object"
    InputMember.print(members, access: access, parameter: parameter, to: &writer)
    writer.end()
  }

  private mutating func printOneOf(_ type: Schema.NamedType, to writer: inout CodeWriter) {
    let cases = type.inputFields.map { ($0.name, naming.inputField($0.name, of: type.name)) }
    check(type, cases, type.inputFields.map(\.location), reserved: ["hashValue", "self", "init"])
    let isCyclic = type.inputFields.contains { !$0.type.isList && cycles.contains(type.name, $0.type.name) }
    writer.begin("\(access)\(isCyclic ? "indirect " : "")enum \(naming.inputObject(type.name)): InputObject")
    for (field, (_, name)) in zip(type.inputFields, cases) {
      writer.documentation(field.description)
      writer.deprecation(field.deprecationReason)
      writer.line("case \(SwiftNames.escaped(name))(\(names.input(field.type)))")
    }
    writer.emptyLine()
    writer.begin("\(access)func write(to object: inout ObjectWriter)")
    writer.line("switch self {")
    for (field, (key, name)) in zip(type.inputFields, cases) {
      // The value of the case is not nullable, so the last character, a question mark, is dropped.
      let coding = names.coding(field.type).map { ", as: \($0.dropLast()).self" } ?? ""
      writer.line("case .\(SwiftNames.escaped(name))(let value): object.write(\(SwiftLiteral.string(key)), value\(coding))")
    }
    writer.line("}")
    writer.end()
    writer.end()
  }

  /// Reports members that cannot have their names.
  private mutating func check(
    _ type: Schema.NamedType, _ members: [(key: String, name: String)], _ places: [Schema.Location?], reserved: Set<String>
  ) {
    var known: [String: String] = [:]
    for ((key, name), location) in zip(members, places) {
      let place = SourcePlace(location ?? type.location)
      let remedy = "rename it with the key renames: {\(type.name).\(key): NAME}"
      if !SwiftNames.isIdentifier(name) || reserved.contains(name) {
        problems.append(place.problem("\(type.name).\(key) cannot be named \(name) in Swift; \(remedy)"))
      } else if let other = known.updateValue(key, forKey: name) {
        problems.append(place.problem("\(type.name).\(key) and \(type.name).\(other) would both be named \(name); \(remedy)"))
      }
    }
  }
}
