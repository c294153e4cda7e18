internal import CarabinerRESP
internal import Synchronization

/// Commands that were sent together, and the caller that waits for their answers.
///
/// An answer, the end of the budget, the loss of the connection or a cancellation ends it. The first one counts.
final class Call: Sendable {
  typealias Outcome = Result<[Reply], RedisError>

  private enum State {
    case waiting(CheckedContinuation<Outcome, Never>?)
    case over(Outcome)
    case taken
  }

  private let state = Mutex(State.waiting(nil))

  /// Ends the call. Returns false if it is over already.
  @discardableResult
  func finish(_ outcome: Outcome) -> Bool {
    let continuation: CheckedContinuation<Outcome, Never>?
    switch state.withLock({ state -> CheckedContinuation<Outcome, Never>?? in
      guard case .waiting(let continuation) = state else { return nil }
      state = continuation == nil ? .over(outcome) : .taken
      return .some(continuation)
    }) {
    case .none: return false
    case .some(let waiting): continuation = waiting
    }
    continuation?.resume(returning: outcome)
    return true
  }

  /// Whether the call has ended.
  var isOver: Bool {
    state.withLock { state in
      if case .waiting = state { false } else { true }
    }
  }

  /// Waits for the end. It is called once.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state -> Outcome? in
          guard case .over(let outcome) = state else {
            state = .waiting(continuation)
            return nil
          }
          state = .taken
          return outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      finish(.failure(RedisError(.cancelled, "the task that waits for Redis was cancelled")))
    }
  }
}
