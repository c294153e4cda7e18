extension GraphQLParser {
  /// Parses the whole document as a schema.
  mutating func schema() throws(GraphQLSyntaxError) -> ParsedSchema {
    var schema = ParsedSchema()
    repeat { try schemaDefinition(&schema) } while token.kind != .end
    return schema
  }

  private mutating func schemaDefinition(_ schema: inout ParsedSchema) throws(GraphQLSyntaxError) {
    _ = try take(.string)
    _ = try take(word: "extend")
    let what = "a definition of a schema, as type or interface"
    guard token.kind == .name else { throw unexpected(what) }
    if try take(word: "schema") { return try rootTypes(&schema) }
    if try take(word: "type") { return try fieldedType(&schema, isInterface: false) }
    if try take(word: "interface") { return try fieldedType(&schema, isInterface: true) }
    if try take(word: "union") { return try union(&schema) }
    if try take(word: "scalar") {
      _ = try name("the name of a scalar")
      _ = try directives()
      return
    }
    if try take(word: "enum") { return try enumeration() }
    if try take(word: "input") { return try input() }
    if try take(word: "directive") { return try directiveDefinition() }
    throw unexpected(what)
  }

  private mutating func rootTypes(_ schema: inout ParsedSchema) throws(GraphQLSyntaxError) {
    _ = try directives()
    guard token.kind == .leftBrace else { return }
    try descend()
    while token.kind != .rightBrace {
      let word = try name("query, mutation or subscription")
      try expect(.colon, "\":\" and the name of a type")
      let type = try name("the name of a type")
      if let operation = Document.OperationDefinition.OperationType(rawValue: word) { schema.rootTypes[operation] = type }
    }
    try leave()
  }

  private mutating func fieldedType(_ schema: inout ParsedSchema, isInterface: Bool) throws(GraphQLSyntaxError) {
    let type = try name("the name of a type")
    if isInterface { schema.interfaces.insert(type) } else { schema.objectTypes.insert(type) }
    if try take(word: "implements") {
      _ = try take(.ampersand)
      repeat {
        schema.implementations[type, default: []].insert(try name("the name of an interface"))
      } while try take(.ampersand) || token.kind == .name && !isDefinition
    }
    _ = try directives()
    guard token.kind == .leftBrace else { return }
    try descend()
    while token.kind != .rightBrace {
      _ = try take(.string)
      let field = try name("the name of a field")
      let needsNoArguments = token.kind == .leftParenthesis ? try argumentDefinitions() : true
      try expect(.colon, "\":\" and a type")
      schema.fields[type, default: [:]][field] = GraphQLSchemaTypes.Field(
        type: try self.type().name, needsNoArguments: needsNoArguments)
      _ = try directives()
    }
    try leave()
  }

  /// Whether the current word begins the next definition. Old schemas write interfaces without `&` between them.
  private var isDefinition: Bool {
    ["type", "interface", "union", "scalar", "enum", "input", "directive", "schema", "extend"].contains { isWord($0) }
  }

  /// Reads the arguments of a field in parentheses. Returns whether all of them are optional.
  private mutating func argumentDefinitions() throws(GraphQLSyntaxError) -> Bool {
    try expect(.leftParenthesis, "\"(\"")
    var areOptional = true
    while token.kind != .rightParenthesis {
      if try inputDefinition() { areOptional = false }
    }
    try advance()
    return areOptional
  }

  /// Reads an argument or a field of an input. Returns whether it is required.
  private mutating func inputDefinition() throws(GraphQLSyntaxError) -> Bool {
    _ = try take(.string)
    _ = try name("the name of an argument")
    try expect(.colon, "\":\" and a type")
    let type = try type()
    let hasDefault = try take(.equals)
    if hasDefault { _ = try value(isConstant: true) }
    _ = try directives()
    if case .nonNull = type { return !hasDefault }
    return false
  }

  private mutating func union(_ schema: inout ParsedSchema) throws(GraphQLSyntaxError) {
    let type = try name("the name of a union")
    _ = try directives()
    schema.unions[type, default: []].formUnion([])
    guard try take(.equals) else { return }
    _ = try take(.verticalBar)
    repeat { schema.unions[type, default: []].insert(try name("the name of a type")) } while try take(.verticalBar)
  }

  private mutating func enumeration() throws(GraphQLSyntaxError) {
    _ = try name("the name of an enumeration")
    _ = try directives()
    guard token.kind == .leftBrace else { return }
    try descend()
    while token.kind != .rightBrace {
      _ = try take(.string)
      _ = try name("a value of the enumeration")
      _ = try directives()
    }
    try leave()
  }

  private mutating func input() throws(GraphQLSyntaxError) {
    _ = try name("the name of an input")
    _ = try directives()
    guard token.kind == .leftBrace else { return }
    try descend()
    while token.kind != .rightBrace { _ = try inputDefinition() }
    try leave()
  }

  private mutating func directiveDefinition() throws(GraphQLSyntaxError) {
    try expect(.at, "\"@\" and the name of a directive")
    _ = try name("the name of a directive")
    if token.kind == .leftParenthesis { _ = try argumentDefinitions() }
    _ = try take(word: "repeatable")
    guard try take(word: "on") else { throw unexpected("\"on\"") }
    _ = try take(.verticalBar)
    repeat { _ = try name("a place of the directive") } while try take(.verticalBar)
  }

  /// Consumes a closing brace.
  private mutating func leave() throws(GraphQLSyntaxError) {
    ascend()
    try advance()
  }
}

extension GraphQLDocument.TypeReference {
  /// The name without lists and exclamation marks.
  fileprivate var name: String {
    switch self {
    case .named(let name): name
    case .list(let element): element.name
    case .nonNull(let type): type.name
    }
  }
}
