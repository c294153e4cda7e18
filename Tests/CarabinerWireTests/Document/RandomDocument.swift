import TestTools

/// Random executable documents with all parts of the grammar, in unusual but valid spelling.
struct RandomDocument {
  var generator: SeededGenerator
  /// Whether some definitions and variables have descriptions.
  private let describes: Bool

  init(seed: UInt64, describes: Bool = false) {
    generator = SeededGenerator(seed: seed)
    self.describes = describes
  }

  private static let names = [
    "a", "b", "name", "on", "query", "fragment", "type", "_x9", "Hero", "true", "null", "ID",
  ]
  private static let numbers = [
    "0", "-0", "12", "-7", "1.5", "-0.25e+3", "1E9", "123456789012345678901234567890",
  ]
  private static let strings = [
    "\"\"", "\"text\"", #""é 😀 \u00e9 \n \" \\ \/""#, #""\uD83D\uDE00 \u{1F600}""#, "\"# no comment, {\"",
    "\"\"\"block\"\"\"", "\"\"\"\n    two\r\n      \"lines\" \\\"\"\"\n  \n    é\t\"\"\"", "\"\"\"\n\n\"\"\"",
    "\"\"\"  first\n   second\n\tthird \\n \"\"\"",
  ]

  /// A document of a few definitions.
  mutating func document() -> String {
    var definitions: [String] = []
    repeat { definitions.append(definition()) } while generator.chance(2)
    return gap() + definitions.joined() + gap()
  }

  private mutating func definition() -> String {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: return selectionSet(4)
    case 1:
      return description() + token("fragment") + token(name(but: ["on"])) + token("on") + token(name()) + directives()
        + selectionSet(3)
    default:
      let type = token(pick(["query", "mutation", "subscription"]))
      return description() + type + (generator.chance(2) ? token(name()) : "") + variables() + directives() + selectionSet(4)
    }
  }

  private mutating func description() -> String { describes && generator.chance(3) ? token(pick(Self.strings)) : "" }

  private mutating func variables() -> String {
    guard generator.chance(2) else { return "" }
    return token("(")
      + some(3) { random in
        random.description() + random.token("$") + random.token(random.name()) + random.token(":") + random.type(3)
          + (random.generator.chance(3) ? random.token("=") + random.value(2, isConstant: true) : "")
          + random.directives(areConstant: true)
      } + token(")")
  }

  private mutating func type(_ depth: Int) -> String {
    let isList = depth > 0 && generator.chance(3)
    let type = isList ? token("[") + self.type(depth - 1) + token("]") : token(name())
    return type + (generator.chance(3) ? token("!") : "")
  }

  private mutating func selectionSet(_ depth: Int) -> String {
    token("{") + some(4) { $0.selection(depth) } + token("}")
  }

  private mutating func selection(_ depth: Int) -> String {
    let inner = depth > 0 && generator.chance(3)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return token("...") + token(name(but: ["on"])) + directives()
    case 1 where depth > 0:
      return token("...") + (generator.chance(2) ? token("on") + token(name()) : "") + directives()
        + selectionSet(depth - 1)
    default:
      return (generator.chance(4) ? token(name()) + token(":") : "") + token(name()) + arguments()
        + directives()
        + (inner ? selectionSet(depth - 1) : "")
    }
  }

  private mutating func directives(areConstant: Bool = false) -> String {
    guard generator.chance(4) else { return "" }
    return some(2) { $0.token("@") + $0.token($0.name()) + $0.arguments(areConstant: areConstant) }
  }

  private mutating func arguments(areConstant: Bool = false) -> String {
    guard generator.chance(3) else { return "" }
    return token("(") + some(3) { $0.token($0.name()) + $0.token(":") + $0.value(3, isConstant: areConstant) }
      + token(")")
  }

  private mutating func value(_ depth: Int, isConstant: Bool) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
    case 0: return token(pick(Self.numbers))
    case 1: return token(pick(Self.strings))
    case 2: return token(name())
    case 3 where !isConstant: return token("$") + token(name())
    case 5:
      return token("[") + (0..<count(4)).map { _ in value(depth - 1, isConstant: isConstant) }.joined()
        + token("]")
    case 6:
      return token("{")
        + (0..<count(4)).map { _ in token(name()) + token(":") + value(depth - 1, isConstant: isConstant) }
        .joined()
        + token("}")
    default: return token(pick(["true", "false", "null"]))
    }
  }

  // MARK: Spelling

  /// Returns a token and a text that ends it.
  private mutating func token(_ text: String) -> String { text + gap() }

  private mutating func gap() -> String {
    pick([" ", " ", " ", "\n", "\r\n", ",", " , ", "\t", "# a comment é { \"\n", "\u{feff} "])
  }

  private mutating func name(but excluded: [String] = []) -> String {
    pick(Self.names.filter { !excluded.contains($0) })
  }

  private mutating func some(_ limit: Int, _ make: (inout RandomDocument) -> String) -> String {
    (0..<max(1, count(limit))).map { _ in make(&self) }.joined()
  }

  private mutating func count(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
  private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }
}
