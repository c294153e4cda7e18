extension GraphQLParser {
  /// A name, a colon and a value.
  mutating func argument(_ what: String, isConstant: Bool) throws(GraphQLSyntaxError) -> Document.Argument {
    beginPart()
    let name = try name(what)
    try expect(.colon, "\":\" and a value")
    return Document.Argument(name: name, value: try value(isConstant: isConstant))
  }

  /// Parses a value. A constant value must not contain variables.
  package mutating func value(isConstant: Bool) throws(GraphQLSyntaxError) -> Document.Value {
    beginPart()
    switch token.kind {
    case .leftBracket: return .list(try list(isConstant: isConstant))
    case .leftBrace: return .object(try object(isConstant: isConstant))
    case .int: return .int(JSONNumber(checked: try takeText()))
    case .float: return .float(JSONNumber(checked: try takeText()))
    case .string: return .string(try takeString())
    case .name: return Self.word(try takeText())
    case .dollar where isConstant:
      throw error(.unexpectedToken, "a variable is not allowed here; the value must be constant")
    case .dollar:
      try advance()
      return .variable(try name("the name of a variable"))
    default: throw unexpected("a value")
    }
  }

  private static func word(_ text: String) -> Document.Value {
    switch text {
    case "true": .boolean(true)
    case "false": .boolean(false)
    case "null": .null
    default: .enumeration(text)
    }
  }

  private mutating func list(isConstant: Bool) throws(GraphQLSyntaxError) -> [Document.Value] {
    try descend()
    var elements: [Document.Value] = []
    while token.kind != .rightBracket { elements.append(try value(isConstant: isConstant)) }
    ascend()
    try advance()
    return elements
  }

  private mutating func object(isConstant: Bool) throws(GraphQLSyntaxError) -> [Document.Argument] {
    try descend()
    var fields: [Document.Argument] = []
    while token.kind != .rightBrace {
      fields.append(try argument("a field of the object", isConstant: isConstant))
    }
    ascend()
    try advance()
    return fields
  }
}
