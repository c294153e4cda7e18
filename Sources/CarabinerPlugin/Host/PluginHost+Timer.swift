internal import CCarabiner
internal import Synchronization

extension PluginHost {
  /// The clock that deadlines and timers go by, in nanoseconds.
  public var clockNanoseconds: UInt64 { unsafe timer.map { unsafe $0.pointee.now_ns() } ?? 0 }

  /// Runs `work` once, on a thread of the host.
  ///
  /// - Throws: ``PluginFailure`` if too many timers are armed.
  @discardableResult
  public func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) throws -> PluginTimer {
    guard let service = unsafe timer else { throw PluginFailure("this host has no timers") }
    let armed = unsafe Unmanaged.passRetained(TimerWork(work))
    let handle = unsafe service.pointee.arm(identity, delay.clampedNanoseconds, TimerWork.fire, armed.toOpaque())
    guard handle != 0 else {
      unsafe armed.release()
      throw PluginFailure("the host arms no timer: too many are armed")
    }
    return unsafe PluginTimer(handle: handle, service: service, work: armed)
  }

  /// Waits; on the host's timers, and without a thread.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(for delay: Duration) async throws {
    let waiter = Waiter<Void>()
    let timer = try after(delay) { waiter.finish(.success(())) }
    do {
      try await waiter.value
    } catch {
      timer.cancel()
      throw error
    }
  }
}

/// One armed timer.
@safe public struct PluginTimer: @unchecked Sendable {
  // The host decides who is first, the timer or one of those who cancel it.

  let handle: crb_timer
  let service: UnsafePointer<crb_timer_service>
  let work: Unmanaged<TimerWork>

  /// True if the work will not run; false if it ran, runs or was cancelled before.
  @discardableResult
  public func cancel() -> Bool {
    guard unsafe service.pointee.cancel(handle) == crb_status(CRB_OK) else { return false }
    unsafe work.release()
    return true
  }
}

/// What a timer runs.
final class TimerWork: Sendable {
  private let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }

  static let fire: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
    guard let user = unsafe user else { return }
    unsafe Unmanaged<TimerWork>.fromOpaque(user).takeRetainedValue().work()
  }
}

/// Something a task waits for: the first outcome counts, and the task's cancellation is one.
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

  /// The outcome; to be asked for once.
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
