internal import CarabinerPlugin

/// Reads the selections of a document. Arguments, directives, variables and types are skipped.
struct DocumentParser {
  /// The maximum nesting depth of selections.
  private static let maximumDepth = 200

  private(set) var operations: [(name: String?, selections: Int)] = []
  private(set) var fragments: [String: Int] = [:]
  private(set) var sets: [[Selection]] = []
  private var lexer: DocumentLexer

  init(_ text: String) { lexer = DocumentLexer(Array(text.utf8)) }

  mutating func parse() throws {
    while let token = try lexer.next() {
      switch token {
      case .punctuator(UInt8(ascii: "{")): operations.append((nil, try selections(0)))
      case .name("query"), .name("mutation"), .name("subscription"): try operation()
      case .name("fragment"):
        guard case .name(let name)? = try lexer.next() else { throw malformed }
        try skipToSelections()
        fragments[name] = try selections(0)
      default: throw malformed
      }
    }
  }

  private mutating func operation() throws {
    var name: String?
    if case .name(let text)? = try lexer.peek() {
      name = text
      _ = try lexer.next()
    }
    try skipToSelections()
    operations.append((name, try selections(0)))
  }

  /// Skips the variables, type condition and directives of a definition, up to its selections.
  private mutating func skipToSelections() throws {
    var depth = 0
    while let token = try lexer.next() {
      switch token {
      case .punctuator(UInt8(ascii: "(")), .punctuator(UInt8(ascii: "[")): depth += 1
      case .punctuator(UInt8(ascii: ")")), .punctuator(UInt8(ascii: "]")): depth -= 1
      // A brace inside of parentheses belongs to a value.
      case .punctuator(UInt8(ascii: "{")) where depth == 0: return
      default: break
      }
    }
    throw malformed
  }

  /// Reads selections after their opening brace.
  private mutating func selections(_ depth: Int) throws -> Int {
    guard depth < Self.maximumDepth else { throw PluginFailure("the document is nested deeper than \(Self.maximumDepth)") }
    var selections: [Selection] = []
    while true {
      switch try lexer.next() {
      case .punctuator(UInt8(ascii: "}")):
        sets.append(selections)
        return sets.count - 1
      case .spread: selections.append(try spread(depth))
      case .name(let name): selections.append(try field(name, depth))
      default: throw malformed
      }
    }
  }

  private mutating func field(_ first: String, _ depth: Int) throws -> Selection {
    var name = first
    if try take(UInt8(ascii: ":")) {
      guard case .name(let text)? = try lexer.next() else { throw malformed }
      name = text
    }
    if try take(UInt8(ascii: "(")) { try skipArguments() }
    try skipDirectives()
    let own = try take(UInt8(ascii: "{")) ? try selections(depth + 1) : nil
    return .field(name: name, key: first, selections: own)
  }

  private mutating func spread(_ depth: Int) throws -> Selection {
    if case .name(let name)? = try lexer.peek() {
      _ = try lexer.next()
      guard name == "on" else {
        try skipDirectives()
        return .spread(name)
      }
      guard case .name? = try lexer.next() else { throw malformed }
    }
    try skipDirectives()
    guard try take(UInt8(ascii: "{")) else { throw malformed }
    return .inline(try selections(depth + 1))
  }

  private mutating func skipDirectives() throws {
    while try take(UInt8(ascii: "@")) {
      guard case .name? = try lexer.next() else { throw malformed }
      if try take(UInt8(ascii: "(")) { try skipArguments() }
    }
  }

  /// Skips arguments after their opening parenthesis.
  private mutating func skipArguments() throws {
    var depth = 1
    while let token = try lexer.next() {
      if token == .punctuator(UInt8(ascii: "(")) { depth += 1 }
      if token == .punctuator(UInt8(ascii: ")")) { depth -= 1 }
      if depth == 0 { return }
    }
    throw malformed
  }

  private mutating func take(_ punctuator: UInt8) throws -> Bool {
    guard try lexer.peek() == .punctuator(punctuator) else { return false }
    _ = try lexer.next()
    return true
  }

  private var malformed: PluginFailure {
    PluginFailure("the document of the operation cannot be read, so no rule can be applied")
  }
}
