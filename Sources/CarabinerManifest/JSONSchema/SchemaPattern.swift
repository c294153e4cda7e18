/// A regular expression of a schema that matches in linear time.
///
/// Swift's `Regex` backtracks, so a pattern such as `^(a+)+$` can take exponential time. This implementation tracks all possible
/// states at once. It supports the subset that JSON Schema recommends, with ECMAScript's meaning: characters, classes, groups,
/// alternatives, quantifiers, anchors and word boundaries. Lookaround and backreferences are rejected.
struct SchemaPattern: Sendable, Hashable {
  /// A pattern is not valid or not supported.
  struct Fault: Error, Hashable {
    let message: String
  }

  /// One instruction. Places are indices into the program.
  enum Instruction: Sendable, Hashable {
    /// Consume a character of the set and continue.
    case take(ScalarSet)
    /// Continue at both places.
    case fork(Int, Int)
    case jump(Int)
    case start
    case end
    /// Continue if this is a word boundary (true), or if it is not (false).
    case border(Bool)
    case found
  }

  /// The pattern as written.
  let text: String
  private let program: [Instruction]

  /// Reads a pattern.
  ///
  /// - Throws: ``Fault`` with the problem.
  init(_ text: String) throws(Fault) {
    self.text = text
    program = try SchemaPatternProgram.make(from: try SchemaPatternParser.parse(text))
  }

  /// Whether the pattern matches some part of a text.
  func isFound(in text: String) -> Bool {
    var states = States(count: program.count)
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if follow(0, &states, previous, scalar) { return true }
      states.pending = states.advance().compactMap { place in
        if case .take(let set) = program[place], set.contains(scalar) { place + 1 } else { nil }
      }
      previous = scalar
    }
    return follow(0, &states, previous, nil)
  }

  /// The possible places of a match between two characters.
  private struct States {
    /// The places to continue at after the last character.
    var pending: [Int] = []
    /// The places that consume a character.
    private(set) var takers: [Int] = []
    private var seen: [Int]
    private var round = 1

    init(count: Int) { seen = Array(repeating: 0, count: count) }

    /// Marks a place as visited. Returns false if it was visited already between these two characters.
    mutating func enter(_ place: Int) -> Bool {
      defer { seen[place] = round }
      return seen[place] != round
    }

    mutating func want(_ place: Int) { takers.append(place) }

    mutating func advance() -> [Int] {
      defer { takers = [] }
      round += 1
      return takers
    }
  }

  /// Follows all instructions that consume no character. Returns whether there is a match.
  private func follow(
    _ start: Int, _ states: inout States, _ previous: Unicode.Scalar?, _ next: Unicode.Scalar?
  ) -> Bool {
    // A match may begin anywhere, so the start is always one of the places.
    var open = states.pending + [start]
    states.pending = []
    while let place = open.popLast() {
      guard states.enter(place) else { continue }
      switch program[place] {
      case .found: return true
      case .take: states.want(place)
      case .jump(let target): open.append(target)
      case .fork(let first, let second): open += [first, second]
      case .start: if previous == nil { open.append(place + 1) }
      case .end: if next == nil { open.append(place + 1) }
      case .border(let wanted):
        let isBorder = previous.map(ScalarSet.word.contains) ?? false != next.map(ScalarSet.word.contains) ?? false
        if isBorder == wanted { open.append(place + 1) }
      }
    }
    return false
  }
}
