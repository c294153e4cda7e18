/// A regular expression of a schema, which matches in time proportional to the text.
///
/// Swift's own `Regex` goes back and tries again, and a pattern such as `^(a+)+$` then takes longer than anybody waits. This
/// one keeps all the places it may be in at once. It has the part of the language JSON Schema recommends: characters, classes,
/// groups, choices, counts, anchors and word borders, with ECMAScript's meaning. What needs to look around or back is refused.
struct SchemaPattern: Sendable, Hashable {
  /// A pattern cannot be used.
  struct Fault: Error, Hashable {
    let message: String
  }

  /// One thing to do; places are indices into the program.
  enum Instruction: Sendable, Hashable {
    /// Take a character of the set and go on.
    case take(ScalarSet)
    /// Go on at both places.
    case fork(Int, Int)
    case jump(Int)
    case start
    case end
    /// Go on where a word begins or ends, or only elsewhere.
    case border(Bool)
    case found
  }

  /// The pattern as it was written.
  let text: String
  private let program: [Instruction]

  /// Reads a pattern.
  ///
  /// - Throws: ``Fault`` with what is wrong with it.
  init(_ text: String) throws(Fault) {
    self.text = text
    program = try SchemaPatternProgram.make(from: try SchemaPatternParser.parse(text))
  }

  /// Whether some part of a text fits.
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

  /// The places a match may be in between two characters.
  private struct States {
    /// Where to go on after the last character.
    var pending: [Int] = []
    /// The places that want a character.
    private(set) var takers: [Int] = []
    private var seen: [Int]
    private var round = 1

    init(count: Int) { seen = Array(repeating: 0, count: count) }

    /// Whether a place is new between these two characters.
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

  /// Goes as far as possible without taking a character; tells whether a match was found.
  private func follow(
    _ start: Int, _ states: inout States, _ previous: Unicode.Scalar?, _ next: Unicode.Scalar?
  ) -> Bool {
    // A match may begin anywhere, so the start is always among the places.
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
