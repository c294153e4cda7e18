package import CarabinerWire

/// The results of a replay, by operation.
package struct ReplayReport: Sendable {
  private struct Entry: Sendable {
    var same = 0
    var different = 0
  }

  private let maximumShown: Int
  private var entries: [String: Entry] = [:]
  private var shown: [(line: Int, outcome: ReplayComparison.Outcome)] = []

  init(maximumShown: Int) { self.maximumShown = maximumShown }

  /// Whether nothing differs.
  package var isSame: Bool { entries.values.allSatisfy { $0.different == 0 } }

  mutating func add(_ outcome: ReplayComparison.Outcome, line: Int) {
    if outcome.isSame {
      entries[outcome.operation, default: Entry()].same += 1
    } else {
      entries[outcome.operation, default: Entry()].different += 1
      if shown.count < maximumShown { shown.append((line, outcome)) }
    }
  }

  package var text: String {
    var lines: [String] = []
    for (line, outcome) in shown {
      lines.append("line \(line), \(outcome.operation):")
      lines += outcome.result.places.map { "  \($0.text)" }
      let more = outcome.result.count - outcome.result.places.count
      if more > 0 { lines.append("  and \(more) places more") }
      lines += outcome.requests.map { "  \($0)" }
    }
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      lines.append("\(name): \(entry.same) the same, \(entry.different) different")
    }
    return lines.isEmpty ? "the record is empty" : lines.joined(separator: "\n")
  }

  package var json: JSONValue {
    var operations = JSONObject()
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      operations[name] = ["same": .count(entry.same), "different": .count(entry.different)]
    }
    return [
      "same": .bool(isSame), "operations": .object(operations),
      "differences": .array(
        shown.map { line, outcome in
          [
            "line": .count(line), "operation": .string(outcome.operation), "places": .count(outcome.result.count),
            "result": .array(
              outcome.result.places.map {
                ["pointer": .string($0.pointer), "old": $0.old ?? .null, "new": $0.new ?? .null]
              }),
            "requests": .array(outcome.requests.map { .string($0) }),
          ]
        }),
    ]
  }
}
