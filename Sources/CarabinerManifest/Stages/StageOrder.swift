internal import CarabinerWire

/// One list of a chain, with the order constraints of its entries.
///
/// The list defines the order. The constraints are only checked.
struct StageOrder {
  /// The place of the list in the manifest.
  let pointer: JSONPointer
  var entries: [(entry: Manifest.Entry, pointer: JSONPointer)] = []

  /// One constraint of an entry: `first` must come before `second`.
  private struct Assertion {
    let first: String
    let second: String
    /// The entry with the constraint.
    let speaker: String
    let pointer: JSONPointer

    /// The constraint as the entry states it.
    var text: String { speaker == first ? "\(first) must be before \(second)" : "\(second) must be after \(first)" }
    var contrary: String { speaker == first ? "after" : "before" }
  }

  /// Constraints that form a cycle, that the list violates, or that name stages which are not in the list.
  func problems() -> [ManifestProblem] {
    let position = Dictionary(entries.enumerated().map { ($1.entry.name, $0) }) { first, _ in first }
    var assertions: [Assertion] = []
    var problems: [ManifestProblem] = []
    for (entry, pointer) in entries {
      for other in entry.before + entry.after where other == entry.name || position[other] == nil {
        problems.append(misnamed(other, by: entry.name, at: pointer))
      }
      assertions += entry.before.map { Assertion(first: entry.name, second: $0, speaker: entry.name, pointer: pointer) }
      assertions += entry.after.map { Assertion(first: $0, second: entry.name, speaker: entry.name, pointer: pointer) }
    }
    assertions.removeAll { $0.first == $0.second || position[$0.first] == nil || position[$0.second] == nil }
    for cycle in Self.cycles(&assertions) {
      problems.append(
        ManifestProblem(
          .orderCycle, at: pointer,
          "the order is impossible: \((cycle + [cycle[0]]).joined(separator: " before ")) is a cycle; remove one of these constraints"
        ))
    }
    for assertion in assertions {
      guard let first = position[assertion.first], let second = position[assertion.second], first > second else { continue }
      problems.append(
        ManifestProblem(
          .orderUnsatisfied, at: assertion.pointer,
          "\(assertion.text) but is \(assertion.contrary) it; move one of them"))
    }
    return problems
  }

  private func misnamed(_ other: String, by name: String, at pointer: JSONPointer) -> ManifestProblem {
    guard other != name else {
      return ManifestProblem(.orderCycle, at: pointer, "\(name) cannot be before or after itself; remove that name")
    }
    let near = Suggestion.text(for: other, among: entries.map(\.entry.name).filter { $0 != name })
    return ManifestProblem(
      .orderUnsatisfied, at: pointer, "\(name) names \(other), which is not in this list\(near); add it, or remove that name")
  }

  /// Finds the cycles and removes their constraints. It would be misleading to report these only as violated.
  private static func cycles(_ assertions: inout [Assertion]) -> [[String]] {
    var cycles: [[String]] = []
    while let cycle = cycle(assertions) {
      cycles.append(cycle)
      let members = Set(cycle)
      assertions.removeAll { members.contains($0.first) && members.contains($0.second) }
    }
    return cycles
  }

  /// One cycle, starting with its alphabetically first member; nil if there is none.
  private static func cycle(_ assertions: [Assertion]) -> [String]? {
    var left = assertions
    // A stage that no other must precede is not on a cycle. Remove such stages until none is left.
    while true {
      let seconds = Set(left.map(\.second))
      let count = left.count
      left.removeAll { !seconds.contains($0.first) }
      if left.count == count { break }
    }
    // Every remaining stage has a predecessor that remains too, so following the predecessors leads into a cycle.
    let before = Dictionary(left.map { ($0.second, $0.first) }) { first, _ in first }
    guard var name = left.map(\.second).min() else { return nil }
    var path: [String] = []
    while !path.contains(name) {
      path.append(name)
      guard let previous = before[name] else { return nil }
      name = previous
    }
    let cycle = Array(path[(path.firstIndex(of: name) ?? 0)...].reversed())
    let start = cycle.indices.min { cycle[$0] < cycle[$1] } ?? 0
    return Array(cycle[start...] + cycle[..<start])
  }
}
