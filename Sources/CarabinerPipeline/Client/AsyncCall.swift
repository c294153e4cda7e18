internal import Synchronization

/// Waits for the result of a call that has callbacks.
final class AsyncCall<Value: Sendable>: Sendable {
  private struct State {
    var waiting: CheckedContinuation<Value, any Error>?
    var call: Transferred<any Cancellable>?
    var isOver = false
    var isCancelled = false
  }

  private let state = Mutex(State())

  /// Starts the call and waits for its first result. Cancelling the task cancels the call.
  ///
  /// After its first result, the call goes on to its end: later results still reach the store, and no interceptor sees a
  /// cancellation.
  func result(_ start: (@escaping (Result<Value, any Error>) -> Void) -> any Cancellable) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          if !state.isOver { state.waiting = continuation }
          return state.isOver
        }
        if isOver { return continuation.resume(throwing: CancellationError()) }
        keep(start { self.finish($0) })
      }
    } onCancel: {
      cancel()
    }
  }

  /// Keeps the call for its cancellation.
  private func keep(_ call: any Cancellable) {
    let kept = Transferred(call)
    let isCancelled = state.withLock { state in
      if !state.isOver { state.call = kept }
      return state.isCancelled
    }
    if isCancelled { call.cancel() }
  }

  private func cancel() {
    let call: Transferred<any Cancellable>? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isCancelled = true
      return state.call
    }
    call?.value.cancel()
    finish(.failure(CancellationError()))
  }

  private func finish(_ result: Result<Value, any Error>) {
    let waiting = state.withLock { state in
      defer { (state.isOver, state.waiting, state.call) = (true, nil, nil) }
      return state.waiting
    }
    waiting?.resume(with: result)
  }
}
