extension GraphQLParser {
  /// A selection set in braces.
  mutating func selectionSet() throws(GraphQLSyntaxError) -> [Document.Selection] {
    guard token.kind == .leftBrace else { throw unexpected("a selection set in braces") }
    beginPart()
    let brace = token.range.lowerBound
    try descend()
    if token.kind == .rightBrace {
      throw error(.unexpectedToken, "a selection set is not empty; add a field, or remove the braces")
    }
    var selections: [Document.Selection] = []
    selections.reserveCapacity(4)
    repeat {
      if token.kind == .end { throw unclosed("the selection set", from: brace, "}") }
      selectionOffsets.append(token.range.lowerBound)
      beginPart()
      selections.append(token.kind == .spread ? try fragmentSelection() : .field(try field()))
    } while token.kind != .rightBrace
    // The depth is reduced before the step, so that it is correct when the brace closes the document.
    ascend()
    try advance()
    return selections
  }

  private mutating func field() throws(GraphQLSyntaxError) -> Document.Field {
    var alias: String?
    var name = try name("a field or a fragment")
    if try take(.colon) {
      alias = name
      name = try self.name("the name of the field behind its alias")
    }
    return Document.Field(
      alias: alias, name: name, arguments: try arguments(), directives: try directives(),
      selectionSet: token.kind == .leftBrace ? try selectionSet() : [])
  }

  private mutating func fragmentSelection() throws(GraphQLSyntaxError) -> Document.Selection {
    try advance()
    var typeCondition: String?
    if try take(word: "on") {
      beginPart()
      typeCondition = try name("the name of a type")
    } else if token.kind == .name {
      beginPart()
      return .fragmentSpread(Document.FragmentSpread(name: try name(), directives: try directives()))
    }
    return .inlineFragment(
      Document.InlineFragment(
        typeCondition: typeCondition, directives: try directives(), selectionSet: try selectionSet()))
  }

  /// Parses the directives at the current place; may be none.
  mutating func directives(areConstant: Bool = false) throws(GraphQLSyntaxError) -> [Document.Directive] {
    var directives: [Document.Directive] = []
    while let directive = try directive(areConstant: areConstant) { directives.append(directive) }
    return directives
  }

  /// Parses the directive at the current place; nil if there is none.
  package mutating func directive(areConstant: Bool) throws(GraphQLSyntaxError) -> Document.Directive? {
    guard token.kind == .at else { return nil }
    beginPart()
    try advance()
    let name = try name("the name of a directive")
    return Document.Directive(name: name, arguments: try arguments(areConstant: areConstant))
  }

  private mutating func arguments(areConstant: Bool = false) throws(GraphQLSyntaxError) -> [Document.Argument] {
    guard try take(.leftParenthesis) else { return [] }
    var arguments: [Document.Argument] = []
    arguments.reserveCapacity(2)
    repeat {
      let what = arguments.isEmpty ? "an argument" : "an argument or \")\""
      arguments.append(try argument(what, isConstant: areConstant))
    } while try !take(.rightParenthesis)
    return arguments
  }
}
