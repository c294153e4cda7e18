/// Parses a document by recursive descent with one token of lookahead.
package struct GraphQLParser {
  package typealias Document = GraphQLDocument

  private let limits: GraphQLLimits
  private var lexer: GraphQLLexer
  package private(set) var token: GraphQLToken
  /// The number of tokens so far.
  package private(set) var tokens = 0
  private var depth = 0
  /// The offset of each definition.
  private(set) var definitionOffsets: [Int] = []
  /// The offset of each selection. A field precedes its selection set.
  var selectionOffsets: [Int] = []
  /// The offset of each variable that is declared; nil if they are not recorded.
  private(set) var variableOffsets: [Int]?
  /// The offsets of the parts of the document, in the order of ``GraphQLPartPlaces``; nil if they are not recorded.
  private(set) var partOffsets: [Int]?
  /// The places of the descriptions.
  private(set) var descriptionRanges: [Range<Int>] = []

  package init(
    _ bytes: [UInt8], limits: GraphQLLimits, recordsParts: Bool = false, recordsVariables: Bool = false
  ) throws(GraphQLSyntaxError) {
    self.limits = limits
    partOffsets = recordsParts ? [] : nil
    variableOffsets = recordsVariables ? [] : nil
    lexer = GraphQLLexer(bytes)
    token = try lexer.next()
  }

  // MARK: Tokens

  /// Records that a part of the document begins at the current token.
  mutating func beginPart() { partOffsets?.append(token.range.lowerBound) }

  /// Consumes the current token.
  package mutating func advance() throws(GraphQLSyntaxError) {
    tokens += 1
    guard tokens <= limits.maximumTokens else {
      throw lexer.error(
        .tooManyTokens, "the document has more than \(limits.maximumTokens) tokens",
        at: token.range.lowerBound)
    }
    token = try lexer.next()
  }

  /// Consumes the current token if it is of this kind.
  package mutating func take(_ kind: GraphQLToken.Kind) throws(GraphQLSyntaxError) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  /// Consumes the current token, which must be of this kind.
  package mutating func expect(_ kind: GraphQLToken.Kind, _ what: String) throws(GraphQLSyntaxError) {
    guard try take(kind) else { throw unexpected(what) }
  }

  /// Reads a name.
  package mutating func name(_ what: String = "a name") throws(GraphQLSyntaxError) -> String {
    guard token.kind == .name else { throw unexpected(what) }
    return try takeText()
  }

  /// Moves past the current token and returns its text.
  package mutating func takeText() throws(GraphQLSyntaxError) -> String {
    let text = lexer.text(at: token.range)
    try advance()
    return text
  }

  /// Reads a string and returns its value.
  package mutating func takeString() throws(GraphQLSyntaxError) -> String {
    let string = lexer.lastString
    try advance()
    return string
  }

  /// Consumes the current token if it is this word.
  package mutating func take(word: String) throws(GraphQLSyntaxError) -> Bool {
    guard isWord(word) else { return false }
    try advance()
    return true
  }

  /// Whether the current token is this word.
  package func isWord(_ word: String) -> Bool { token.kind == .name && lexer.hasWord(word, at: token.range) }

  /// The error for an unexpected token.
  package func unexpected(_ what: String) -> GraphQLSyntaxError {
    error(
      token.kind == .end ? .unexpectedEnd : .unexpectedToken,
      "expected \(what), found \(token.summary(lexer.text(at: token.range)))")
  }

  /// The error at the end of a document.
  func unclosed(_ what: String, from offset: Int, _ bracket: String) -> GraphQLSyntaxError {
    let start = lexer.error(.unexpectedEnd, "", at: offset)
    return error(
      .unexpectedEnd, "the document ends within \(what) that begins at \(start.line):\(start.column); close it with \(bracket)")
  }

  package func error(_ code: GraphQLSyntaxError.Code, _ message: String) -> GraphQLSyntaxError {
    lexer.error(code, message, at: token.range.lowerBound)
  }

  /// Consumes an opening bracket and increments the depth. Each call needs a matching ``ascend()`` unless an error is thrown.
  package mutating func descend() throws(GraphQLSyntaxError) {
    guard depth < limits.maximumDepth else {
      throw error(.tooDeep, "the document is nested deeper than \(limits.maximumDepth)")
    }
    depth += 1
    try advance()
  }

  /// Decrements the depth.
  package mutating func ascend() { depth -= 1 }

  // MARK: Definitions

  /// Parses the whole document.
  mutating func document() throws(GraphQLSyntaxError) -> [Document.Definition] {
    var definitions: [Document.Definition] = []
    repeat { definitions.append(try definition()) } while token.kind != .end
    return definitions
  }

  private mutating func definition() throws(GraphQLSyntaxError) -> Document.Definition {
    definitionOffsets.append(token.range.lowerBound)
    beginPart()
    if token.kind == .leftBrace {
      return .operation(Document.OperationDefinition(type: .query, selectionSet: try selectionSet()))
    }
    let description = try description()
    // The short form of a query has no description.
    let what = description == nil ? "an operation or a fragment" : "query, mutation, subscription or fragment after a description"
    guard token.kind == .name else { throw unexpected(what) }
    let word = lexer.text(at: token.range)
    if let type = Document.OperationDefinition.OperationType(rawValue: word) {
      try advance()
      return .operation(try operation(type, description))
    }
    if try take(word: "fragment") { return .fragment(try fragment(description)) }
    if Self.schemaWords.contains(word) {
      throw error(
        .notExecutable, "\"\(word)\" belongs into a schema; a request has operations and fragments only"
      )
    }
    throw unexpected(what)
  }

  private static let schemaWords: Set<String> = [
    "schema", "scalar", "type", "interface", "union", "enum", "input", "directive", "extend",
  ]

  /// Reads a description; nil if there is none.
  private mutating func description() throws(GraphQLSyntaxError) -> String? {
    guard token.kind == .string else { return nil }
    descriptionRanges.append(token.range)
    return try takeString()
  }

  private mutating func operation(
    _ type: Document.OperationDefinition.OperationType, _ description: String?
  ) throws(GraphQLSyntaxError) -> Document.OperationDefinition {
    if token.kind == .name { beginPart() }
    let name = token.kind == .name ? try name() : nil
    return Document.OperationDefinition(
      description: description, type: type, name: name, variables: try variables(), directives: try directives(),
      selectionSet: try selectionSet())
  }

  private mutating func fragment(_ description: String?) throws(GraphQLSyntaxError) -> Document.FragmentDefinition {
    guard !isWord("on") else { throw unexpected("the fragment's name") }
    beginPart()
    let name = try name("the fragment's name")
    guard try take(word: "on") else { throw unexpected("\"on\"") }
    beginPart()
    return Document.FragmentDefinition(
      description: description, name: name, typeCondition: try self.name("the name of a type"), directives: try directives(),
      selectionSet: try selectionSet())
  }

  private mutating func variables() throws(GraphQLSyntaxError) -> [Document.VariableDefinition] {
    guard try take(.leftParenthesis) else { return [] }
    var variables: [Document.VariableDefinition] = []
    repeat {
      beginPart()
      variableOffsets?.append(token.range.lowerBound)
      let description = try description()
      try expect(.dollar, variables.isEmpty ? "a variable" : "a variable or \")\"")
      beginPart()
      let name = try name()
      try expect(.colon, "\":\" and the type of the variable")
      beginPart()
      let type = try type()
      let defaultValue = try take(.equals) ? try value(isConstant: true) : nil
      variables.append(
        Document.VariableDefinition(
          description: description, name: name, type: type, defaultValue: defaultValue,
          directives: try directives(areConstant: true)))
    } while try !take(.rightParenthesis)
    return variables
  }

  /// Parses a type: a name or a list of a type, with an optional exclamation mark.
  mutating func type() throws(GraphQLSyntaxError) -> Document.TypeReference {
    var type: Document.TypeReference
    if token.kind == .leftBracket {
      try descend()
      type = .list(try self.type())
      try expect(.rightBracket, "\"]\"")
      ascend()
    } else {
      beginPart()
      type = .named(try name("the name of a type"))
    }
    if try take(.exclamationMark) { type = .nonNull(type) }
    return type
  }
}
