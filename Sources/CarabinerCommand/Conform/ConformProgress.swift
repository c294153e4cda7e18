internal import CarabinerConformance
internal import Synchronization

/// Shows the running checks on the last line of a terminal.
final class ConformProgress: Sendable {
  private struct State {
    var running: [String] = []
    var done = 0
    var bad = 0
  }

  private let state = Mutex(State())
  private let plugin: String
  private let total: Int

  init(plugin: String, total: Int) {
    self.plugin = plugin
    self.total = total
  }

  /// Records the start of a check, or its outcome.
  func note(_ check: Check, _ outcome: CheckOutcome?) {
    let line = state.withLock { state -> String in
      if let outcome {
        state.running.removeAll { $0 == check.id }
        state.done += 1
        if outcome.isFailure(warningsCount: false) { state.bad += 1 }
      } else {
        state.running.append(check.id)
      }
      return "\(plugin): \(state.done) of \(total), \(state.bad) broken, running \(state.running.joined(separator: " "))"
    }
    if Terminal.isInteractive { Terminal.progress(line) }
  }

  /// Clears the line.
  func end() {
    if Terminal.isInteractive { Terminal.progress("") }
  }
}
