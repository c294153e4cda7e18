internal import Carabiner
internal import CarabinerWire
internal import Synchronization

/// Compares the results of a shadow with those sent to clients, by operation.
final class ShadowComparisons: Sendable {
  /// The maximum number of operation names that are counted separately; clients choose the names.
  private static let maximumOperations = 1000
  /// The maximum number of copies that run at once. Further ones are not run.
  private static let maximumRunning = 64

  private struct Entry {
    var same = 0
    var different = 0
    /// The places of the latest difference.
    var example: [String] = []
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var running = 0
    var leftOut = 0
  }

  private let state = Mutex(State())

  /// The numbers of equal and different results.
  var totals: (same: Int, different: Int) {
    state.withLock { state in
      state.entries.values.reduce(into: (0, 0)) { totals, entry in
        totals.0 += entry.same
        totals.1 += entry.different
      }
    }
  }

  /// Counts a copy; false if the maximum number is running.
  func begin() -> Bool {
    state.withLock { state in
      guard state.running < Self.maximumRunning else {
        state.leftOut += 1
        return false
      }
      state.running += 1
      return true
    }
  }

  func end(_ operation: String, _ difference: ResultDifference?) {
    state.withLock { state in
      state.running -= 1
      guard let difference, state.entries[operation] != nil || state.entries.count < Self.maximumOperations else { return }
      if difference.isEmpty {
        state.entries[operation, default: Entry()].same += 1
      } else {
        state.entries[operation, default: Entry()].different += 1
        state.entries[operation]?.example = difference.places.map(\.text)
      }
    }
  }

  var json: JSONValue {
    state.withLock { state in
      var operations = JSONObject()
      for (name, entry) in state.entries.sorted(by: { $0.key < $1.key }) {
        operations[name] = [
          "same": .count(entry.same), "different": .count(entry.different),
          "example": .array(entry.example.map { .string($0) }),
        ]
      }
      return ["operations": .object(operations), "leftOut": .count(state.leftOut)]
    }
  }
}
