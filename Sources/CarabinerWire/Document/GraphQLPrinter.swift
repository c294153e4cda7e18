/// Prints a document with one selection per line, indented by two spaces.
struct GraphQLPrinter {
  private(set) var text = ""
  private var indent = 0

  mutating func append(_ document: GraphQLDocument) {
    for (position, definition) in document.definitions.enumerated() {
      if position > 0 { text += "\n\n" }
      switch definition {
      case .operation(let operation): append(operation)
      case .fragment(let fragment): append(fragment)
      }
    }
  }

  private mutating func append(_ operation: GraphQLDocument.OperationDefinition) {
    let isShorthand =
      operation.type == .query && operation.name == nil && operation.variables.isEmpty
      && operation.directives.isEmpty && operation.description == nil
    append(description: operation.description, "\n")
    if !isShorthand {
      text += operation.type.rawValue + (operation.name.map { " " + $0 } ?? "")
      if !operation.variables.isEmpty {
        // The parenthesis of an anonymous operation is separated from its keyword.
        text += operation.name == nil ? " (" : "("
        appendList(operation.variables) { $0.append($1) }
        text += ")"
      }
      append(operation.directives)
      text += " "
    }
    append(operation.selectionSet)
  }

  /// Appends a description and the text between it and what it describes.
  private mutating func append(description: String?, _ separator: String) {
    if let description { text += JSONValue.string(description).description + separator }
  }

  private mutating func append(_ fragment: GraphQLDocument.FragmentDefinition) {
    append(description: fragment.description, "\n")
    text += "fragment \(fragment.name) on \(fragment.typeCondition)"
    append(fragment.directives)
    text += " "
    append(fragment.selectionSet)
  }

  private mutating func append(_ variable: GraphQLDocument.VariableDefinition) {
    append(description: variable.description, " ")
    text += "$\(variable.name): \(variable.type)"
    if let value = variable.defaultValue {
      text += " = "
      append(value)
    }
    append(variable.directives)
  }

  // MARK: Selections

  private mutating func append(_ selectionSet: [GraphQLDocument.Selection]) {
    text += "{"
    indent += 1
    for selection in selectionSet {
      appendLineBreak()
      append(selection)
    }
    indent -= 1
    appendLineBreak()
    text += "}"
  }

  private mutating func append(_ selection: GraphQLDocument.Selection) {
    switch selection {
    case .field(let field):
      text += (field.alias.map { $0 + ": " } ?? "") + field.name
      append(field.arguments)
      append(field.directives)
      guard !field.selectionSet.isEmpty else { return }
      text += " "
      append(field.selectionSet)
    case .fragmentSpread(let spread):
      text += "...\(spread.name)"
      append(spread.directives)
    case .inlineFragment(let fragment):
      text += "..." + (fragment.typeCondition.map { " on " + $0 } ?? "")
      append(fragment.directives)
      text += " "
      append(fragment.selectionSet)
    }
  }

  private mutating func append(_ directives: [GraphQLDocument.Directive]) {
    for directive in directives {
      text += " @\(directive.name)"
      append(directive.arguments)
    }
  }

  private mutating func append(_ arguments: [GraphQLDocument.Argument]) {
    guard !arguments.isEmpty else { return }
    text += "("
    appendList(arguments) { $0.append($1) }
    text += ")"
  }

  // MARK: Values

  private mutating func append(_ argument: GraphQLDocument.Argument) {
    text += argument.name + ": "
    append(argument.value)
  }

  mutating func append(_ value: GraphQLDocument.Value) {
    switch value {
    case .variable(let name): text += "$" + name
    case .int(let number), .float(let number): text += number.lexeme
    case .string(let string): text += JSONValue.string(string).description
    case .boolean(let value): text += value ? "true" : "false"
    case .null: text += "null"
    case .enumeration(let name): text += name
    case .list(let elements):
      text += "["
      appendList(elements) { $0.append($1) }
      text += "]"
    case .object(let fields):
      text += "{"
      appendList(fields) { $0.append($1) }
      text += "}"
    }
  }

  private mutating func appendList<Element>(_ list: [Element], _ append: (inout Self, Element) -> Void) {
    for (position, element) in list.enumerated() {
      if position > 0 { text += ", " }
      append(&self, element)
    }
  }

  private mutating func appendLineBreak() {
    text += "\n" + String(repeating: "  ", count: indent)
  }
}

extension GraphQLDocument: CustomStringConvertible {
  /// The document as text. Parsing the text results in an equal document.
  public var description: String {
    var printer = GraphQLPrinter()
    printer.append(self)
    return printer.text
  }
}

extension GraphQLDocument.Value: CustomStringConvertible {
  /// The value as text.
  public var description: String {
    var printer = GraphQLPrinter()
    printer.append(self)
    return printer.text
  }
}

extension GraphQLDocument.TypeReference: CustomStringConvertible {
  /// The type as text.
  public var description: String {
    switch self {
    case .named(let name): name
    case .list(let element): "[\(element)]"
    case .nonNull(let type): "\(type)!"
    }
  }
}
