internal import Synchronization

/// One call with callbacks, as a value that is awaited.
final class AsyncCall<Value: Sendable>: Sendable {
  private struct State {
    var waiting: CheckedContinuation<Value, any Error>?
    var call: Transferred<any Cancellable>?
    var isOver = false
  }

  private let state = Mutex(State())

  /// Starts the call and waits for its first result. Cancelling the task cancels the call.
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
      finish(.failure(CancellationError()))
    }
  }

  /// Keeps the call for its cancellation.
  private func keep(_ call: any Cancellable) {
    let kept = Transferred(call)
    let isOver = state.withLock { state in
      if !state.isOver { state.call = kept }
      return state.isOver
    }
    if isOver { call.cancel() }
  }

  private func finish(_ result: Result<Value, any Error>) {
    let (waiting, call) = state.withLock { state in
      defer { (state.isOver, state.waiting, state.call) = (true, nil, nil) }
      return (state.waiting, state.call)
    }
    // Its further results have no reader.
    call?.value.cancel()
    waiting?.resume(with: result)
  }
}
