internal import CCarabiner
internal import Synchronization

extension PluginHost {
  /// The time on the clock of deadlines and timers, in nanoseconds.
  public var clockNanoseconds: UInt64 { unsafe timer.map { unsafe $0.pointee.now_ns() } ?? 0 }

  /// Runs `work` once, on a thread of the host. If the instance is destroyed before, the work does not run.
  ///
  /// - Throws: ``PluginFailure`` if too many timers are armed.
  @discardableResult
  public func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) throws -> PluginTimer {
    try start(after: delay.clampedNanoseconds, every: 0, work)
  }

  /// Runs `work` repeatedly on a thread of the host, for the first time after one interval.
  ///
  /// A run that takes longer than the interval delays the next one. The timer ends with ``PluginTimer/cancel()`` or with the
  /// instance.
  ///
  /// - Throws: ``PluginFailure`` if the interval is not positive or too many timers are armed.
  @discardableResult
  public func every(_ interval: Duration, _ work: @escaping @Sendable () -> Void) throws -> PluginTimer {
    guard interval > .zero else { throw PluginFailure("a repeating timer needs an interval above zero") }
    return try start(after: interval.clampedNanoseconds, every: interval.clampedNanoseconds, work)
  }

  private func start(
    after delay: UInt64, every interval: UInt64, onEnd: (@Sendable () -> Void)? = nil, _ code: @escaping @Sendable () -> Void
  ) throws -> PluginTimer {
    guard let service = unsafe timer else { throw PluginFailure("this host has no timers") }
    let armed = unsafe TimerWork(self, service, every: interval, onEnd: onEnd, code)
    guard work.add(armed) else { throw PluginFailure("this instance is being destroyed: it starts nothing more") }
    guard armed.arm(after: delay) else {
      work.remove(armed)
      throw PluginFailure("the host arms no timer: too many are armed")
    }
    return PluginTimer(work: armed)
  }

  /// Suspends the task, with a timer of the host and without blocking a thread.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled or the instance ends; ``PluginFailure`` if too many timers are
  ///   armed.
  public func sleep(for delay: Duration) async throws {
    let waiter = Waiter<Void>()
    let timer = try start(
      after: delay.clampedNanoseconds, every: 0, onEnd: { waiter.finish(.failure(CancellationError())) },
      { waiter.finish(.success(())) })
    do {
      try await waiter.value
    } catch {
      timer.cancel()
      throw error
    }
  }
}

/// An outcome that a task waits for. Only the first outcome is used. Cancelling the task is an outcome too.
final class Waiter<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, any Error>)
    case finished(Result<Value, any Error>)
    case taken
  }

  private let state = Mutex(State.empty)

  func finish(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
      switch state {
      case .empty: state = .finished(result)
      case .waiting(let continuation):
        state = .taken
        return continuation
      case .finished, .taken: break
      }
      return nil
    }
    waiting?.resume(with: result)
  }

  /// The outcome. It may be read once.
  var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let known: Result<Value, any Error>? = state.withLock { state in
            defer { if case .finished = state { state = .taken } else { state = .waiting(continuation) } }
            if case .finished(let result) = state { return result }
            return nil
          }
          if let known { continuation.resume(with: known) }
        }
      } onCancel: {
        finish(.failure(CancellationError()))
      }
    }
  }
}
