internal import Carabiner
internal import Foundation
internal import Synchronization

/// Prints one line per stage event, indented by the stage's depth in the chain.
final class TraceDrawing: ChainTracer {
  private struct State {
    var depth = 0
    var lines = 0
  }

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  func record(_ event: StageEvent) {
    let (at, indent) = state.withLock { state in
      let at = ContinuousClock.now - start
      state.lines += 1
      return (at, event.kind.level)
    }
    let arrow = event.direction == .down ? "▼" : "▲"
    let name = event.stage.isEmpty ? event.kind.rawValue : event.stage
    let left = String(repeating: "  ", count: indent) + "\(arrow) \(event.kind.rawValue) \(name)"
    Terminal.complain(
      "\(pad(left, 44)) \(pad(event.hook, 12)) \(pad(event.outcome, 30)) \(padLeft(event.duration.microseconds, 12)) at \(at.microseconds)"
    )
  }

  func finish() {
    Terminal.complain("\(state.withLock { $0.lines }) steps in \((ContinuousClock.now - start).microseconds)")
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func padLeft(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

extension StageEvent.Kind {
  fileprivate var level: Int {
    switch self {
    case .client: 0
    case .graphQL: 0
    case .cache: 1
    case .http, .parsing: 2
    case .transport: 3
    }
  }
}

extension Duration {
  /// Microseconds with one decimal, such as "12.3 µs".
  var microseconds: String {
    let value = Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12
    return String(format: "%.1f µs", value)
  }
}
