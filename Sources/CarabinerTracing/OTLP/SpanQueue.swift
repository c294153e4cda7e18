internal import Synchronization

/// Spans that wait to be sent. It never grows beyond its limit and never makes anybody wait: what finds no room is dropped and counted.
final class SpanQueue: Sendable {
  private struct State {
    var spans: [FinishedSpan] = []
    var dropped = 0
  }

  private let maximum: Int
  private let state = Mutex(State())

  init(maximum: Int) { self.maximum = maximum }

  /// How many wait.
  var count: Int { state.withLock { $0.spans.count } }
  /// How many found no room.
  var dropped: Int { state.withLock(\.dropped) }

  /// Takes a span in.
  ///
  /// - Returns: How many wait now; 0 if there was no room.
  func add(_ span: FinishedSpan) -> Int {
    state.withLock { state in
      guard state.spans.count < maximum else {
        state.dropped += 1
        return 0
      }
      state.spans.append(span)
      return state.spans.count
    }
  }

  /// Takes out those that waited longest.
  func take(_ most: Int) -> [FinishedSpan] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(most))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  /// Gives up all that wait.
  func dropAll() {
    state.withLock { state in
      state.dropped += state.spans.count
      state.spans = []
    }
  }
}
