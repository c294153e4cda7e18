internal import Foundation

/// The cases that are still to be run, and the outcomes of the others.
struct FuzzWork {
  /// How many cases one child gets.
  static let batch = 250
  /// The number of cases that end their child after which the run stops.
  private static let maximumDeaths = 5

  private let seed: UInt64
  private var rest: Range<Int>
  /// The cases after a case that ended its child.
  private var again: [Range<Int>] = []
  private var ended: [(first: Int, outcome: CheckOutcome)] = []
  /// How many cases ended their child.
  private(set) var deaths = 0

  init(_ cases: Range<Int>, seed: UInt64) {
    rest = cases
    self.seed = seed
  }

  /// How many cases were not run.
  var left: Int { again.reduce(rest.count) { $0 + $1.count } }

  /// The outcomes, in the order of the cases.
  var outcomes: [CheckOutcome] { ended.sorted { $0.first < $1.first }.map(\.outcome) }

  /// Takes the cases for one child; nil if there is nothing more to do.
  mutating func next() -> Range<Int>? {
    guard deaths < Self.maximumDeaths else { return nil }
    if let part = again.popLast() { return part }
    guard !rest.isEmpty else { return nil }
    let part = rest.prefix(Self.batch)
    rest = part.upperBound..<rest.upperBound
    return part
  }

  /// Notes how a child has ended.
  mutating func add(_ child: Supervisor.Ended, of part: Range<Int>) {
    ended.append((part.lowerBound, child.outcome))
    switch child.outcome.status {
    case .crash, .timeout:
      deaths += 1
      // The plugin can write into the record, so its content is used only if it is plausible.
      guard let died = FuzzCase.number(in: child.step, seed: seed), part.contains(died), died + 1 < part.upperBound else {
        return
      }
      again.append((died + 1)..<part.upperBound)
    case .skip, .untested, .harnessError:
      rest = rest.upperBound..<rest.upperBound
      again = []
    case .pass, .warn, .fail: break
    }
  }
}
