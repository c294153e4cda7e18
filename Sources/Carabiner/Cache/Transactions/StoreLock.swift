internal import Synchronization

/// Admits many readers or one writer, in the order of arrival.
final class StoreLock: Sendable {
  enum Access {
    case read
    case write
  }

  private struct Waiter {
    let number: UInt64
    let access: Access
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var readers = 0
    var isWriting = false
    var waiting: [Waiter] = []
    var lastNumber: UInt64 = 0
    /// Waiters that were cancelled before they were queued.
    var cancelled: Set<UInt64> = []

    mutating func admits(_ access: Access) -> Bool {
      guard !isWriting, access == .read || readers == 0 else { return false }
      if access == .read { readers += 1 } else { isWriting = true }
      return true
    }
  }

  private let state = Mutex(State())

  /// Runs work while holding the lock.
  ///
  /// - Throws: The error of the work; `CancellationError` if the task was cancelled while it waited.
  // Inlined with the work: an `async` call that does not wait still costs several hundred instructions.
  @inline(__always) func with<Result>(_ access: Access, _ work: () async throws -> Result) async throws -> Result {
    let isIn = state.withLock { $0.waiting.isEmpty && $0.admits(access) }
    if !isIn { try await wait(for: access) }
    defer { leave(access) }
    return try await work()
  }

  private func wait(for access: Access) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let answer: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if state.waiting.isEmpty, state.admits(access) { return .success(()) }
          state.waiting.append(Waiter(number: number, access: access, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
      // A cancellation after admission must not be kept.
      state.withLock { _ = $0.cancelled.remove(number) }
    } onCancel: {
      let waiter: Waiter? = state.withLock { state in
        guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.waiting.remove(at: place)
      }
      waiter?.continuation.resume(throwing: CancellationError())
      // Waiters after a cancelled writer may be admitted now.
      if waiter != nil { admitWaiters() }
    }
  }

  private func leave(_ access: Access) {
    let someoneWaits = state.withLock { state in
      if access == .read { state.readers -= 1 } else { state.isWriting = false }
      return !state.waiting.isEmpty
    }
    if someoneWaits { admitWaiters() }
  }

  private func admitWaiters() {
    let admitted = state.withLock { state in
      var count = 0
      while count < state.waiting.count, state.admits(state.waiting[count].access) { count += 1 }
      let admitted = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      return admitted
    }
    for waiter in admitted { waiter.continuation.resume() }
  }
}
