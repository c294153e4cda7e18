internal import CarabinerWire

/// Reads the definitions of a text into a builder.
struct SchemaReader {
  var parser: GraphQLParser
  var builder: SchemaBuilder
  private let file: String
  private var places: PlaceCounter

  init(_ source: SchemaSource, _ limits: GraphQLLimits) throws(GraphQLSyntaxError) {
    let bytes = Array(source.text.utf8)
    file = source.file
    places = PlaceCounter(bytes)
    parser = try GraphQLParser(bytes, limits: limits)
    builder = SchemaBuilder(limits: SchemaLimits())
  }

  /// Whether all definitions are read.
  var isAtEnd: Bool { parser.token.kind == .end }

  /// Reads at least one definition, up to the end of the text.
  mutating func read() throws(GraphQLSyntaxError) {
    repeat { try definition() } while !isAtEnd
  }

  private mutating func definition() throws(GraphQLSyntaxError) {
    let place = here()
    let description = try description()
    let isExtension = try parser.take(word: "extend")
    if isExtension, description != nil {
      builder.problem(
        .possibleTypeExtensions, "", "an extension has no description; move it to the definition, or remove it", at: place)
    }
    let head = Head(description: description, isExtension: isExtension)
    let what = "a definition of a schema, as type or interface"
    guard parser.token.kind == .name else { throw parser.unexpected(what) }
    if try parser.take(word: "type") { return try fieldedType(.object, head) }
    if try parser.take(word: "interface") { return try fieldedType(.interface, head) }
    if try parser.take(word: "input") { return try input(head) }
    if try parser.take(word: "enum") { return try enumeration(head) }
    if try parser.take(word: "union") { return try union(head) }
    if try parser.take(word: "scalar") { return try scalar(head) }
    if parser.isWord("schema") { return try schema(head) }
    if !isExtension, try parser.take(word: "directive") { return try directiveDefinition(description) }
    throw parser.unexpected(what)
  }

  /// The text before the keyword of a definition.
  private struct Head {
    let description: String?
    let isExtension: Bool
  }

  // MARK: Types

  /// Reads the name of a type, and begins its definition or extension.
  private mutating func type(
    _ kind: Schema.NamedType.Kind, _ head: Head, _ what: String
  ) throws(GraphQLSyntaxError) -> Int {
    let place = here()
    let name = try parser.name(what)
    return head.isExtension
      ? builder.extend(name, kind, at: place) : builder.define(name, kind, description: head.description, at: place)
  }

  private mutating func fieldedType(_ kind: Schema.NamedType.Kind, _ head: Head) throws(GraphQLSyntaxError) {
    let id = try type(kind, head, "the name of a type")
    if try parser.take(word: "implements") {
      _ = try parser.take(.ampersand)
      repeat {
        builder.add(interface: try namedReference("the name of an interface"), to: id)
      } while try parser.take(.ampersand) || parser.token.kind == .name && !isDefinition
    }
    try apply(try appliedDirectives(), to: id)
    guard parser.token.kind == .leftBrace else { return }
    try parser.descend()
    while parser.token.kind != .rightBrace { try field(of: id) }
    try leave()
  }

  /// Whether the current word begins the next definition. Old schemas write interfaces without `&` between them.
  private var isDefinition: Bool {
    ["type", "interface", "union", "scalar", "enum", "input", "directive", "schema", "extend"].contains { parser.isWord($0) }
  }

  private mutating func field(of id: Int) throws(GraphQLSyntaxError) {
    let description = try description()
    let place = here()
    let name = try parser.name("the name of a field")
    var arguments = NamedList<Schema.InputValue>()
    if parser.token.kind == .leftParenthesis {
      arguments = try argumentDefinitions { "\($0.name(of: id)).\(name)(\($1):)" }
    }
    try parser.expect(.colon, "\":\" and a type")
    let type = try typeReference()
    var directives = try appliedDirectives()
    let reason = directives.removeDeprecation()
    builder.add(
      Schema.Field(
        name: name, description: description, type: type, deprecationReason: reason, appliedDirectives: directives,
        argumentList: arguments, place: Uncompared(place)),
      to: id)
  }

  private mutating func union(_ head: Head) throws(GraphQLSyntaxError) {
    let id = try type(.union, head, "the name of a union")
    try apply(try appliedDirectives(), to: id)
    guard try parser.take(.equals) else { return }
    _ = try parser.take(.verticalBar)
    repeat { builder.add(member: try namedReference("the name of a type"), to: id) } while try parser.take(.verticalBar)
  }

  private mutating func scalar(_ head: Head) throws(GraphQLSyntaxError) {
    let id = try type(.scalar, head, "the name of a scalar")
    try apply(try appliedDirectives(), to: id)
  }

  private mutating func enumeration(_ head: Head) throws(GraphQLSyntaxError) {
    let id = try type(.enumeration, head, "the name of an enumeration")
    try apply(try appliedDirectives(), to: id)
    guard parser.token.kind == .leftBrace else { return }
    try parser.descend()
    while parser.token.kind != .rightBrace {
      let description = try description()
      let place = here()
      let name = try parser.name("a value of the enumeration")
      var directives = try appliedDirectives()
      let reason = directives.removeDeprecation()
      builder.add(
        Schema.EnumValue(
          name: name, description: description, deprecationReason: reason, appliedDirectives: directives, place: Uncompared(place)
        ),
        to: id)
    }
    try leave()
  }

  private mutating func input(_ head: Head) throws(GraphQLSyntaxError) {
    let id = try type(.inputObject, head, "the name of an input")
    try apply(try appliedDirectives(), to: id)
    guard parser.token.kind == .leftBrace else { return }
    try parser.descend()
    while parser.token.kind != .rightBrace { builder.add(inputField: try inputValue(), to: id) }
    try leave()
  }

  // MARK: Schema and directives

  private mutating func schema(_ head: Head) throws(GraphQLSyntaxError) {
    let place = here()
    try parser.advance()
    if !head.isExtension { builder.defineSchema(description: head.description, at: place) }
    builder.appliedDirectives += try appliedDirectives()
    guard parser.token.kind == .leftBrace else { return }
    try parser.descend()
    while parser.token.kind != .rightBrace {
      let place = here()
      let word = try parser.name("query, mutation or subscription")
      try parser.expect(.colon, "\":\" and the name of a type")
      let type = try namedReference("the name of a type")
      if let operation = Schema.OperationType(rawValue: word) {
        builder.add(root: type, of: operation)
      } else {
        builder.problem(.rootTypes, "", "\(word) is not an operation; write query, mutation or subscription", at: place)
      }
    }
    try leave()
  }

  private mutating func directiveDefinition(_ description: String?) throws(GraphQLSyntaxError) {
    try parser.expect(.at, "\"@\" and the name of a directive")
    let place = here()
    let name = try parser.name("the name of a directive")
    var arguments = NamedList<Schema.InputValue>()
    if parser.token.kind == .leftParenthesis { arguments = try argumentDefinitions { "@\(name)(\($1):)" } }
    let isRepeatable = try parser.take(word: "repeatable")
    guard try parser.take(word: "on") else { throw parser.unexpected("\"on\"") }
    _ = try parser.take(.verticalBar)
    var locations: Set<Schema.DirectiveLocation> = []
    repeat {
      let place = here()
      let word = try parser.name("a place of the directive")
      guard let location = Schema.DirectiveLocation(rawValue: word) else {
        builder.problem(
          .knownDirectiveLocations, "@\(name)",
          "\(word) is not a location of directives; write one as FIELD_DEFINITION or OBJECT", at: place)
        continue
      }
      if !locations.insert(location).inserted {
        builder.problem(.uniqueDirectiveLocations, "@\(name)", "@\(name) lists \(word) twice; remove one of them", at: place)
      }
    } while try parser.take(.verticalBar)
    builder.add(
      Schema.DirectiveDefinition(
        name: name, description: description, isRepeatable: isRepeatable,
        locations: Schema.DirectiveLocation.allCases.filter(locations.contains), argumentList: arguments, place: Uncompared(place)
      ))
  }
}

extension SchemaReader {
  // MARK: Parts of definitions

  /// Reads arguments in parentheses. The coordinate of an argument is only needed for a problem.
  private mutating func argumentDefinitions(
    _ coordinate: (SchemaBuilder, String) -> String
  ) throws(GraphQLSyntaxError) -> NamedList<Schema.InputValue> {
    try parser.expect(.leftParenthesis, "\"(\"")
    var arguments = NamedList<Schema.InputValue>()
    while parser.token.kind != .rightParenthesis {
      let argument = try inputValue()
      guard let previous = arguments.set(argument) else { continue }
      let coordinate = coordinate(builder, argument.name)
      builder.duplicate(
        .uniqueArgumentDefinitionNames, coordinate, "an argument \(coordinate)", first: previous.location,
        second: argument.location)
    }
    try parser.advance()
    return arguments
  }

  /// Reads an argument or a field of an input.
  private mutating func inputValue() throws(GraphQLSyntaxError) -> Schema.InputValue {
    let description = try description()
    let place = here()
    let name = try parser.name("the name of an argument")
    try parser.expect(.colon, "\":\" and a type")
    let type = try typeReference()
    let value = try parser.take(.equals) ? try parser.value(isConstant: true) : nil
    var directives = try appliedDirectives()
    let reason = directives.removeDeprecation()
    return Schema.InputValue(
      name: name, description: description, type: type, defaultValue: value, deprecationReason: reason,
      appliedDirectives: directives,
      place: Uncompared(place))
  }

  /// Reads a description; nil if there is none, or an empty one.
  private mutating func description() throws(GraphQLSyntaxError) -> String? {
    guard parser.token.kind == .string else { return nil }
    let text = try parser.takeString()
    return text.isEmpty ? nil : text
  }

  private mutating func appliedDirectives() throws(GraphQLSyntaxError) -> [Schema.AppliedDirective] {
    var directives: [Schema.AppliedDirective] = []
    while parser.token.kind == .at {
      let place = here()
      guard let directive = try parser.directive(areConstant: true) else { break }
      directives.append(Schema.AppliedDirective(name: directive.name, arguments: directive.arguments, place: Uncompared(place)))
    }
    return directives
  }

  /// Adds directives to a type.
  private mutating func apply(_ directives: [Schema.AppliedDirective], to id: Int) throws(GraphQLSyntaxError) {
    guard !directives.isEmpty else { return }
    builder.change(id) { contents in
      var directives = directives
      if contents.specifiedByURL == nil { contents.specifiedByURL = directives.removeSpecification() }
      if !contents.isOneOf { contents.isOneOf = directives.removeOneOf() }
      contents.appliedDirectives += directives
    }
  }

  private mutating func namedReference(_ what: String) throws(GraphQLSyntaxError) -> Schema.TypeReference {
    let place = here()
    return builder.reference(to: try parser.name(what), at: place)
  }

  /// Reads a type with its lists and exclamation marks.
  private mutating func typeReference() throws(GraphQLSyntaxError) -> Schema.TypeReference {
    var depth = 0
    while parser.token.kind == .leftBracket {
      depth += 1
      guard depth <= Schema.TypeReference.maximumListDepth else {
        throw parser.error(.tooDeep, "a type has more than \(Schema.TypeReference.maximumListDepth) lists around it")
      }
      try parser.advance()
    }
    let place = here()
    let name = try parser.name("the name of a type")
    var marks: UInt64 = 0
    for level in 0...depth {
      if level > 0 { try parser.expect(.rightBracket, "\"]\"") }
      if try parser.take(.exclamationMark) { marks |= 1 << UInt64(level) }
    }
    return builder.reference(to: name, listDepth: depth, marks: marks, at: place)
  }

  /// Consumes a closing brace.
  private mutating func leave() throws(GraphQLSyntaxError) {
    parser.ascend()
    try parser.advance()
  }

  /// The place of the current token.
  private mutating func here() -> Schema.Location {
    let place = places.place(of: parser.token.range.lowerBound)
    return Schema.Location(file: file, line: place.line, column: place.column)
  }
}
