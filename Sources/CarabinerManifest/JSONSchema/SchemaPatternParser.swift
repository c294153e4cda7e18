/// A part of a pattern.
indirect enum SchemaPatternPart: Sendable, Hashable {
  case set(ScalarSet)
  case start
  case end
  case border(Bool)
  case sequence([SchemaPatternPart])
  case choice([SchemaPatternPart])
  case repeated(SchemaPatternPart, minimum: Int, maximum: Int?)
}

/// Reads a pattern.
struct SchemaPatternParser {
  /// The deepest nesting of groups.
  static let maximumDepth = 100
  /// The longest pattern in Unicode scalars.
  static let maximumScalars = 4096
  /// The largest count in braces.
  static let maximumCount = 1000

  private let scalars: [Unicode.Scalar]
  private var position = 0

  private init(_ text: String) { scalars = Array(text.unicodeScalars) }

  static func parse(_ text: String) throws(SchemaPattern.Fault) -> SchemaPatternPart {
    var parser = SchemaPatternParser(text)
    guard parser.scalars.count <= maximumScalars else { throw fault("it is longer than \(maximumScalars) characters") }
    let part = try parser.choice(depth: 0)
    guard parser.position == parser.scalars.count else { throw fault("there is a ) without a (") }
    return part
  }

  private static func fault(_ message: String) -> SchemaPattern.Fault { SchemaPattern.Fault(message: message) }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func skip(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  private mutating func choice(depth: Int) throws(SchemaPattern.Fault) -> SchemaPatternPart {
    guard depth <= Self.maximumDepth else { throw Self.fault("its groups are nested deeper than \(Self.maximumDepth)") }
    var parts: [SchemaPatternPart] = []
    repeat {
      var sequence: [SchemaPatternPart] = []
      while let scalar = next, scalar != "|", scalar != ")" { sequence.append(try counted(depth: depth)) }
      parts.append(.sequence(sequence))
    } while skip("|")
    return parts.count == 1 ? parts[0] : .choice(parts)
  }

  private mutating func counted(depth: Int) throws(SchemaPattern.Fault) -> SchemaPatternPart {
    let part = try single(depth: depth)
    guard let (minimum, maximum) = try count() else { return part }
    switch part {
    case .start, .end, .border: throw Self.fault("an anchor cannot be repeated")
    default: break
    }
    // Lazy quantifiers match the same texts as greedy ones.
    _ = skip("?")
    if try count() != nil { throw Self.fault("a quantifier cannot follow a quantifier") }
    return .repeated(part, minimum: minimum, maximum: maximum)
  }

  private mutating func count() throws(SchemaPattern.Fault) -> (Int, Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    guard next == "{", let end = scalars[position...].firstIndex(of: "}") else { return nil }
    let inside = String(String.UnicodeScalarView(scalars[(position + 1)..<end]))
    let parts = inside.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    // Anything else in braces is literal text.
    guard parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let first = parts.first, !first.isEmpty else {
      return nil
    }
    guard let minimum = Int(first), let maximum = parts.count == 1 ? minimum : parts[1].isEmpty ? minimum : Int(parts[1]),
      max(minimum, maximum) <= Self.maximumCount, minimum <= maximum
    else { throw Self.fault("the count {\(inside)} is descending or above \(Self.maximumCount)") }
    position = end + 1
    return (minimum, parts.count == 2 && parts[1].isEmpty ? nil : maximum)
  }

  private mutating func single(depth: Int) throws(SchemaPattern.Fault) -> SchemaPatternPart {
    guard let scalar = next else { throw Self.fault("it ends too early") }
    position += 1
    switch scalar {
    case "^": return .start
    case "$": return .end
    case ".": return .set(.inLine)
    case "[": return .set(try characterClass())
    case "(": return try group(depth: depth)
    case "*", "+", "?": throw Self.fault("there is nothing before \(scalar) to repeat")
    case "\\":
      if skip("b") { return .border(true) }
      if skip("B") { return .border(false) }
      return .set(try escape(inClass: false))
    default: return .set(ScalarSet(scalar))
    }
  }

  private mutating func group(depth: Int) throws(SchemaPattern.Fault) -> SchemaPatternPart {
    if skip("?:") {
    } else if ["?=", "?!", "?<=", "?<!"].contains(where: { scalars[position...].starts(with: $0.unicodeScalars) }) {
      throw Self.fault("lookaround, such as (?=…), is not supported; use if, not or allOf")
    } else if skip("?<") {
      guard let end = scalars[position...].firstIndex(of: ">"), end > position else { throw Self.fault("a group has no name") }
      position = end + 1
    } else if next == "?" {
      throw Self.fault("(? must be followed by :, or by a name in <>")
    }
    let part = try choice(depth: depth + 1)
    guard skip(")") else { throw Self.fault("a ( is not closed") }
    return part
  }

  // MARK: Characters

  private mutating func characterClass() throws(SchemaPattern.Fault) -> ScalarSet {
    let isNegated = skip("^")
    var set = ScalarSet()
    while !skip("]") {
      let first = try member()
      guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
        set.ranges += first.flattened
        continue
      }
      position += 1
      let last = try member()
      guard let low = first.only, let high = last.only, low <= high else { throw Self.fault("a range in [] is not ascending") }
      set.ranges.append(low...high)
    }
    return isNegated ? set.negated() : set
  }

  private mutating func member() throws(SchemaPattern.Fault) -> ScalarSet {
    guard let scalar = next else { throw Self.fault("a [ is not closed") }
    position += 1
    return scalar == "\\" ? try escape(inClass: true) : ScalarSet(scalar)
  }

  private mutating func escape(inClass: Bool) throws(SchemaPattern.Fault) -> ScalarSet {
    guard let scalar = next else { throw Self.fault("it ends with a backslash") }
    position += 1
    switch scalar {
    case "d": return .digit
    case "D": return .digit.negated()
    case "w": return .word
    case "W": return .word.negated()
    case "s": return .space
    case "S": return .space.negated()
    case "t": return ScalarSet("\t")
    case "n": return ScalarSet("\n")
    case "r": return ScalarSet("\r")
    case "f": return ScalarSet("\u{0C}")
    case "v": return ScalarSet("\u{0B}")
    case "b" where inClass: return ScalarSet("\u{08}")
    case "0" where !(next.map { ("0"..."9").contains($0) } ?? false): return ScalarSet("\0")
    case "x": return try hexadecimal(2)
    case "u": return try skip("{") ? hexadecimalInBraces() : hexadecimal(4)
    case "p", "P": throw Self.fault("Unicode properties, such as \\p{L}, are not supported; write a class")
    case "0"..."9", "k": throw Self.fault("backreferences, such as \\1, are not supported")
    default:
      guard !ScalarSet.word.contains(scalar) else { throw Self.fault("\\\(scalar) is not a known escape") }
      return ScalarSet(scalar)
    }
  }

  private mutating func hexadecimal(_ count: Int) throws(SchemaPattern.Fault) -> ScalarSet {
    let digits = String(String.UnicodeScalarView(scalars[position...].prefix(count)))
    position += digits.unicodeScalars.count
    return try scalar(digits.unicodeScalars.count == count ? digits : "")
  }

  private mutating func hexadecimalInBraces() throws(SchemaPattern.Fault) -> ScalarSet {
    let digits = String(String.UnicodeScalarView(scalars[position...].prefix { $0 != "}" }))
    position += digits.unicodeScalars.count
    guard skip("}") else { throw Self.fault("\\u{ is not closed") }
    return try scalar(digits)
  }

  private func scalar(_ digits: String) throws(SchemaPattern.Fault) -> ScalarSet {
    guard digits.allSatisfy(\.isHexDigit), let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
      throw Self.fault("\(digits.debugDescription) is not the number of a character")
    }
    return ScalarSet(scalar)
  }
}

extension ScalarSet {
  /// The only scalar of the set; nil if there are more.
  fileprivate var only: UInt32? {
    guard !isNegated, ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }
}
