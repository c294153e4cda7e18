internal import Synchronization

/// The pauses of all requests, which end early when the server stops.
final class Pauses: Sendable {
  private struct State {
    var isOver = false
    var next = 0
    var sleeping: [Int: Task<Void, any Error>] = [:]
  }

  private let state = Mutex(State())

  /// Waits for a duration.
  ///
  /// - Throws: `CancellationError` when the server stops, or the task is cancelled.
  func pause(_ duration: Duration) async throws {
    let sleep = Task { try await Task.sleep(for: duration) }
    let number: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      defer { state.next += 1 }
      state.sleeping[state.next] = sleep
      return state.next
    }
    guard let number else {
      sleep.cancel()
      throw CancellationError()
    }
    defer { state.withLock { $0.sleeping[number] = nil } }
    try await withTaskCancellationHandler {
      try await sleep.value
    } onCancel: {
      sleep.cancel()
    }
  }

  /// Ends all pauses. Later ones end at once.
  func end() {
    let sleeping = state.withLock { state in
      state.isOver = true
      return Array(state.sleeping.values)
    }
    for sleep in sleeping { sleep.cancel() }
  }
}
