internal import CarabinerWire

/// Writes a schema in its canonical form: two spaces of indentation, one blank line between definitions.
struct SchemaPrinter {
  private(set) var text = ""
  private let schema: Schema
  private let isSorted: Bool

  init(_ schema: Schema, isSorted: Bool) {
    self.schema = schema
    self.isSorted = isSorted
  }

  mutating func print() {
    if needsSchemaDefinition { appendSchemaDefinition() }
    for directive in sorted(schema.directives) { append(directive) }
    for type in isSorted ? schema.types.sorted(by: { $0.name < $1.name }) : schema.types { append(type) }
  }

  private func sorted<Element: Named>(_ elements: [Element]) -> [Element] {
    isSorted ? elements.sorted { $0.name < $1.name } : elements
  }

  /// Begins a definition.
  private mutating func begin(_ description: String?) {
    if !text.isEmpty { text += "\n" }
    append(description: description, indent: "")
  }

  // MARK: Definitions

  /// Whether the root types differ from those of the usual names.
  private var needsSchemaDefinition: Bool {
    if schema.description != nil || !schema.appliedDirectives.isEmpty { return true }
    return Schema.OperationType.allCases.contains { operation in
      schema.rootTypeName(of: operation) != schema.type(named: operation.defaultRootTypeName)?.name
    }
  }

  private mutating func appendSchemaDefinition() {
    let roots = Schema.OperationType.allCases.compactMap { operation in
      schema.rootTypeName(of: operation).map { "\(operation.rawValue): \($0)" }
    }
    begin(schema.description)
    text += "schema"
    append(schema.appliedDirectives)
    appendBlock(roots) { $0.text += "  \($1)\n" }
  }

  private mutating func append(_ directive: Schema.DirectiveDefinition) {
    begin(directive.description)
    text += "directive @\(directive.name)"
    append(arguments: directive.arguments, indent: "")
    if directive.isRepeatable { text += " repeatable" }
    text += " on " + directive.locations.map(\.rawValue).joined(separator: " | ") + "\n"
  }

  private mutating func append(_ type: Schema.NamedType) {
    begin(type.description)
    text += "\(type.kind.word) \(type.name)"
    if !type.interfaces.isEmpty {
      text += " implements " + sorted(type.interfaces).map(\.name).joined(separator: " & ")
    }
    if let url = type.specifiedByURL { append(builtIn: "specifiedBy", "url", url) }
    if type.isOneOf { text += " @oneOf" }
    append(type.appliedDirectives)
    switch type.kind {
    case .scalar: text += "\n"
    case .object, .interface: appendBlock(sorted(type.fields)) { $0.append($1) }
    case .union:
      if !type.members.isEmpty { text += " = " + sorted(type.members).map(\.name).joined(separator: " | ") }
      text += "\n"
    case .enumeration: appendBlock(sorted(type.values)) { $0.append($1) }
    case .inputObject:
      appendBlock(sorted(type.inputFields)) { printer, field in
        printer.append(description: field.description, indent: "  ")
        printer.text += "  "
        printer.append(field)
        printer.text += "\n"
      }
    }
  }

  private mutating func appendBlock<Element>(_ elements: [Element], _ append: (inout Self, Element) -> Void) {
    if !elements.isEmpty {
      text += " {\n"
      for element in elements { append(&self, element) }
      text += "}"
    }
    text += "\n"
  }

  private mutating func append(_ field: Schema.Field) {
    append(description: field.description, indent: "  ")
    text += "  \(field.name)"
    append(arguments: field.arguments, indent: "  ")
    text += ": \(field.type)"
    append(deprecation: field.deprecationReason)
    append(field.appliedDirectives)
    text += "\n"
  }

  private mutating func append(_ value: Schema.EnumValue) {
    append(description: value.description, indent: "  ")
    text += "  \(value.name)"
    append(deprecation: value.deprecationReason)
    append(value.appliedDirectives)
    text += "\n"
  }

  // MARK: Parts

  /// Appends arguments on one line, or on a line each if one has a description.
  private mutating func append(arguments: [Schema.InputValue], indent: String) {
    guard !arguments.isEmpty else { return }
    let arguments = sorted(arguments)
    let isOneLine = arguments.allSatisfy { $0.description == nil }
    text += isOneLine ? "(" : "(\n"
    for (position, argument) in arguments.enumerated() {
      if isOneLine, position > 0 { text += ", " }
      append(description: argument.description, indent: indent + "  ")
      if !isOneLine { text += indent + "  " }
      append(argument)
      if !isOneLine { text += "\n" }
    }
    text += isOneLine ? ")" : "\(indent))"
  }

  private mutating func append(_ input: Schema.InputValue) {
    text += "\(input.name): \(input.type)"
    if let value = input.defaultValue { text += " = \(value)" }
    append(deprecation: input.deprecationReason)
    append(input.appliedDirectives)
  }

  private mutating func append(deprecation reason: String?) {
    guard let reason else { return }
    if reason == Schema.DirectiveDefinition.defaultDeprecationReason {
      text += " @deprecated"
    } else {
      append(builtIn: "deprecated", "reason", reason)
    }
  }

  private mutating func append(builtIn name: String, _ argument: String, _ value: String) {
    text += " @\(name)(\(argument): \(GraphQLDocument.Value.string(value)))"
  }

  private mutating func append(_ directives: [Schema.AppliedDirective]) {
    for directive in directives {
      text += " @\(directive.name)"
      if directive.arguments.isEmpty { continue }
      text += "(" + directive.arguments.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + ")"
    }
  }

  private mutating func append(description: String?, indent: String) {
    guard let description else { return }
    text += DescriptionText(description).printed(indent: indent) + "\n"
  }
}

extension Schema {
  /// The schema in the schema definition language.
  ///
  /// The text is canonical: reading it gives an equal schema, and printing that gives the same text.
  ///
  /// - Parameter isSorted: Whether types, fields, arguments and values are sorted by name, and not in the order of their definition.
  public func text(isSorted: Bool = false) -> String {
    var printer = SchemaPrinter(self, isSorted: isSorted)
    printer.print()
    return printer.text
  }
}
