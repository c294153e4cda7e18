internal import Synchronization

/// A bounded queue of spans. Adding never waits: if the queue is full, the span is dropped and counted.
final class SpanQueue: Sendable {
  private struct State {
    var spans: [FinishedSpan] = []
    var dropped = 0
  }

  private let maximum: Int
  private let state = Mutex(State())

  init(maximum: Int) { self.maximum = maximum }

  /// The number of queued spans.
  var count: Int { state.withLock { $0.spans.count } }
  /// The number of dropped spans.
  var dropped: Int { state.withLock(\.dropped) }

  /// Adds a span.
  ///
  /// - Returns: The number of queued spans; 0 if the queue was full.
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

  /// Removes and returns the oldest spans.
  func take(_ most: Int) -> [FinishedSpan] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(most))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  /// Drops all queued spans.
  func dropAll() {
    state.withLock { state in
      state.dropped += state.spans.count
      state.spans = []
    }
  }
}
