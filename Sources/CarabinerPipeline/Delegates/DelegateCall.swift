internal import Dispatch
internal import Synchronization

/// A call of a ``HTTPNetworkTransport``: its task and its callbacks.
final class DelegateCall<Value>: Cancellable, Sendable {
  private struct State {
    var work: Task<Void, Never>?
    /// Whether the last callback has begun, or the call was cancelled.
    var isOver = false
  }

  private let state = Mutex(State())
  private let queue: CallbackQueue
  private let completion: Transferred<(Result<Value, any Error>) -> Void>

  init(queue: DispatchQueue, _ completion: @escaping (Result<Value, any Error>) -> Void) {
    self.queue = CallbackQueue(on: queue)
    self.completion = Transferred(completion)
  }

  /// Keeps the task of the call, for its cancellation.
  func keep(_ work: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.work = work }
      return state.isOver
    }
    // It is harmless to cancel a task that has handed in its last callback.
    if isOver { work.cancel() }
  }

  /// Hands in a callback.
  func deliver(_ result: Result<Value, any Error>, isLast: Bool) {
    let result = Transferred(result)
    queue.add(
      CallbackQueue.Callback {
        guard self.begin(isLast: isLast) else { return }
        self.completion.value(result.value)
      })
  }

  private func begin(isLast: Bool) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      if isLast { (state.isOver, state.work) = (true, nil) }
      return true
    }
  }

  /// Ends the call with a `CancellationError`, unless its last callback has begun.
  func cancel() {
    let work: Task<Void, Never>?? = state.withLock { state in
      guard !state.isOver else { return nil }
      defer { (state.isOver, state.work) = (true, nil) }
      return .some(state.work)
    }
    guard let work else { return }
    queue.close(after: CallbackQueue.Callback { [completion] in completion.value(.failure(CancellationError())) })
    work?.cancel()
  }
}
