internal import CCarabiner
internal import Synchronization

/// An armed timer. Letting go of it does not disarm it; the end of the instance does.
public struct PluginTimer: Sendable {
  let work: TimerWork

  /// True if the work will not run, or not again; false if it ran, runs just now or was cancelled before. A repeating timer that runs
  /// just now does not run again.
  @discardableResult
  public func cancel() -> Bool {
    defer { work.host.work.remove(work) }
    return work.cancel()
  }
}

/// What a timer runs, once or again and again.
@safe final class TimerWork: @unchecked Sendable {
  // The service is the host's, static and read-only; the rest is behind the lock.

  private struct State {
    /// Nil while it runs, and when it will not run any more.
    var work: (@Sendable () -> Void)?
    /// 0 while it is not armed.
    var handle: crb_timer = 0
    /// When it is due, on the host's clock.
    var due: UInt64 = 0
    var isCancelled = false
  }

  let host: PluginHost
  private let service: UnsafePointer<crb_timer_service>
  /// In nanoseconds; 0: it runs once.
  private let interval: UInt64
  private let state: Mutex<State>

  init(
    _ host: PluginHost, _ service: UnsafePointer<crb_timer_service>, every interval: UInt64,
    _ work: @escaping @Sendable () -> Void
  ) {
    self.host = host
    unsafe self.service = unsafe service
    self.interval = interval
    state = Mutex(State(work: work))
  }

  /// False if the host arms no timer.
  func arm(after delay: UInt64) -> Bool {
    state.withLock { state in
      state.due = unsafe service.pointee.now_ns().addingReportingOverflow(delay).partialValue
      return arm(&state, delay)
    }
  }

  private func arm(_ state: inout State, _ delay: UInt64) -> Bool {
    let lent = unsafe Unmanaged.passRetained(self)
    state.handle = unsafe service.pointee.arm(host.identity, delay, Self.fire, lent.toOpaque())
    if state.handle == 0 { unsafe lent.release() }
    return state.handle != 0
  }

  @discardableResult
  func cancel() -> Bool {
    let (isTaken, work) = state.withLock { state in
      state.isCancelled = true
      defer {
        state.handle = 0
        state.work = nil
      }
      return (unsafe state.handle != 0 && service.pointee.cancel(state.handle) == crb_status(CRB_OK), state.work)
    }
    // The host gives its reference back.
    if isTaken { unsafe Unmanaged.passUnretained(self).release() }
    // Dropped here, where no lock is held.
    _ = work
    return isTaken
  }

  private func run() {
    let work = state.withLock { state in
      state.handle = 0
      defer { state.work = nil }
      return state.work
    }
    guard let work else { return }
    work()
    let goesOn = interval > 0 && state.withLock { armAgain(&$0, work) }
    if !goesOn { host.work.remove(self) }
  }

  /// For the next time that is not over yet.
  private func armAgain(_ state: inout State, _ work: @escaping @Sendable () -> Void) -> Bool {
    guard !state.isCancelled else { return false }
    let now = unsafe service.pointee.now_ns()
    state.due &+= interval
    if state.due <= now { state.due = now &+ interval }
    state.work = work
    guard arm(&state, state.due &- now) else {
      state.work = nil
      return false
    }
    return true
  }

  private static let fire: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
    guard let user = unsafe user else { return }
    unsafe Unmanaged<TimerWork>.fromOpaque(user).takeRetainedValue().run()
  }
}
