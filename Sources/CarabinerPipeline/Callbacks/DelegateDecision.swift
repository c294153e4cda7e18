internal import Synchronization

/// The answer of a delegate, which may come later, on any thread, or never.
final class DelegateDecision<Answer: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Answer?, Never>)
    /// Nil if the task was cancelled first.
    case settled(Answer?)
  }

  private let state = Mutex(State.open)

  /// Calls `ask` with a closure for the answer, and waits for the answer. Only the first call of the closure counts.
  ///
  /// - Parameters:
  ///   - unanswered: The answer if the closure is released without a call.
  ///   - ask: Calls the delegate.
  /// - Throws: `CancellationError` if the task is cancelled first.
  static func answer(unanswered: Answer, _ ask: (@escaping (Answer) -> Void) -> Void) async throws -> Answer {
    let decision = DelegateDecision()
    decision.pose(unanswered, ask)
    let answer = await withTaskCancellationHandler {
      await decision.wait()
    } onCancel: {
      decision.settle(nil)
    }
    guard let answer, !Task.isCancelled else { throw CancellationError() }
    return answer
  }

  // A function of its own, so that nothing here keeps the closure while the answer is awaited.
  @inline(never) private func pose(_ unanswered: Answer, _ ask: (@escaping (Answer) -> Void) -> Void) {
    let question = DelegateQuestion(self, unanswered: unanswered)
    ask { answer in question.answer(answer) }
  }

  private func wait() async -> Answer? {
    await withCheckedContinuation { continuation in
      let settled: Answer?? = state.withLock { state in
        if case .settled(let answer) = state { return .some(answer) }
        state = .waiting(continuation)
        return nil
      }
      if let settled { continuation.resume(returning: settled) }
    }
  }

  func settle(_ answer: Answer?) {
    let waiting = state.withLock { state -> CheckedContinuation<Answer?, Never>? in
      switch state {
      case .settled: return nil
      case .open:
        state = .settled(answer)
        return nil
      case .waiting(let continuation):
        state = .settled(answer)
        return continuation
      }
    }
    waiting?.resume(returning: answer)
  }
}

/// Settles a decision when the closure that a delegate got is called or released.
private final class DelegateQuestion<Answer: Sendable>: Sendable {
  private let decision: DelegateDecision<Answer>
  private let unanswered: Answer

  init(_ decision: DelegateDecision<Answer>, unanswered: Answer) {
    self.decision = decision
    self.unanswered = unanswered
  }

  deinit { decision.settle(unanswered) }

  func answer(_ answer: Answer) { decision.settle(answer) }
}
