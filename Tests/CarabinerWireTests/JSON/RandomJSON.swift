import CarabinerWire
import TestTools

/// Random JSON values and random spellings of them.
struct RandomJSON {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private static let strings = [
    "", "a", "data", "é", "e\u{301}", "日本", "😀", "quote \" and \\ backslash", "line\nfeed\ttab",
    "\u{0}\u{1f}", "/", "~",
    "a somewhat longer string than fits into a small one",
  ]
  private static let numbers = [
    "0", "-0", "1", "-12", "3.25", "1e5", "1E+5", "2.50e-3", "123456789012345678901234567890", "0.1000",
  ]

  /// Returns a value that is nested at most `depth` deep.
  mutating func value(depth: Int = 5) -> JSONValue {
    switch Int.random(in: 0..<(depth == 0 ? 5 : 8), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return JSONNumber(lexeme: pick(Self.numbers)).map(JSONValue.number) ?? .null
    case 3, 4: return .string(pick(Self.strings))
    case 5: return .array((0..<count()).map { _ in value(depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<count() {
        object[pick(Self.strings) + pick(["", "1", "2", "3"])] = value(depth: depth - 1)
      }
      return .object(object)
    }
  }

  /// Returns a text for a value, with unusual but valid white space and escapes.
  mutating func text(_ value: JSONValue) -> String {
    let body =
      switch value {
      case .null, .bool, .number: value.description
      case .string(let string): text(string)
      case .array(let elements): "[" + space() + elements.map { text($0) }.joined(separator: ",") + "]"
      case .object(let object):
        "{" + space()
          + object.map { space() + text($0.key) + space() + ":" + text($0.value) }.joined(separator: ",")
          + "}"
      }
    return space() + body + space()
  }

  private mutating func text(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      guard mustEscape || generator.chance(4) else {
        text.unicodeScalars.append(scalar)
        continue
      }
      for unit in Character(scalar).utf16 {
        let digits = String(unit, radix: 16, uppercase: generator.chance(2))
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return text + "\""
  }

  private mutating func space() -> String {
    generator.chance(3) ? pick([" ", "\n", "\t", "\r\n", "  "]) : ""
  }
  private mutating func count() -> Int {
    Int.random(in: 0..<(generator.chance(8) ? 30 : 5), using: &generator)
  }
  private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }
}
