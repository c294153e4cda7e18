internal import Synchronization

/// The turn of one result of the server, while it passes the interceptors after the fetch.
///
/// The turn ends when the result was delivered and no interceptor works on it, or when all chain values and closures of the result
/// are released. Only then does the next result begin, so results keep their order.
final class ResultTurn: Sendable {
  private struct State {
    var running = 0
    var isDelivered = false
    var isOver = false
  }

  private let state = Mutex(State())
  private let gate: ResultGate

  init(_ gate: ResultGate) {
    self.gate = gate
    gate.begin()
  }

  deinit { end { _ in true } }

  func entered() { state.withLock { $0.running += 1 } }

  func left() {
    end { state in
      state.running -= 1
      return state.isDelivered && state.running == 0
    }
  }

  /// A callback of this result has returned.
  func delivered() {
    end { state in
      state.isDelivered = true
      return state.running == 0
    }
  }

  private func end(_ change: (inout State) -> Bool) {
    let ends = state.withLock { state in
      let ends = change(&state) && !state.isOver
      if ends { state.isOver = true }
      return ends
    }
    if ends { gate.end() }
  }
}

/// Lets a transfer wait until the turn of its last result has ended.
final class ResultGate: Sendable {
  private struct State {
    var turns = 0
    var waiting: CheckedContinuation<Void, Never>?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func begin() { state.withLock { $0.turns += 1 } }

  func end() {
    resume { state in
      state.turns -= 1
      return state.turns == 0
    }
  }

  /// Waits until no result has a turn, or the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if state.turns == 0 || state.isCancelled { return true }
          state.waiting = continuation
          return false
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      resume { state in
        state.isCancelled = true
        return true
      }
    }
  }

  private func resume(_ change: (inout State) -> Bool) {
    let waiting = state.withLock { state in
      guard change(&state) else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }
}
