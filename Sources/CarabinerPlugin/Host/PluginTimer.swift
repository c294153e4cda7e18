internal import CCarabiner
internal import Synchronization

/// An armed timer. Releasing the value does not cancel the timer; destroying the instance does.
public struct PluginTimer: Sendable {
  let work: TimerWork

  /// Cancels the timer.
  ///
  /// - Returns: True if the work will not run (again). False if it has run, is running or was cancelled before. A repeating
  ///   timer whose work is running does not run again.
  @discardableResult
  public func cancel() -> Bool {
    defer { work.host.work.remove(work) }
    return work.cancel()
  }
}

/// The work of a timer, run once or repeatedly.
@safe final class TimerWork: @unchecked Sendable {
  // Safe: the service is static and read-only; everything else is protected by the lock.

  private struct State {
    /// Nil while it runs, and once it will not run again.
    var work: (@Sendable () -> Void)?
    /// 0 while the timer is not armed.
    var handle: crb_timer = 0
    /// The next time to run, on the host's clock.
    var due: UInt64 = 0
    var isCancelled = false
    /// Counts how often the timer was armed or fired, so that a handle returned late does not replace a newer one.
    var turn = 0
  }

  let host: PluginHost
  private let service: UnsafePointer<crb_timer_service>
  /// In nanoseconds; 0 for a timer that fires once.
  private let interval: UInt64
  /// Called if the instance ends before the timer fires.
  private let onEnd: (@Sendable () -> Void)?
  private let state: Mutex<State>

  init(
    _ host: PluginHost, _ service: UnsafePointer<crb_timer_service>, every interval: UInt64,
    onEnd: (@Sendable () -> Void)?, _ work: @escaping @Sendable () -> Void
  ) {
    self.host = host
    unsafe self.service = unsafe service
    self.interval = interval
    self.onEnd = onEnd
    state = Mutex(State(work: work))
  }

  /// Arms the timer for the first time.
  ///
  /// - Returns: False if the host refuses.
  func arm(after delay: UInt64) -> Bool {
    let now = unsafe service.pointee.now_ns()
    state.withLock { $0.due = now.addingReportingOverflow(delay).partialValue }
    return arm(delay)
  }

  /// Calls the host without holding the lock: the timer may fire before the host's function returns.
  private func arm(_ delay: UInt64) -> Bool {
    let turn = state.withLock { state in
      state.handle = 0
      state.turn += 1
      return state.turn
    }
    let lent = unsafe Unmanaged.passRetained(self)
    let handle = unsafe service.pointee.arm(host.identity, delay, Self.fire, lent.toOpaque())
    guard handle != 0 else {
      unsafe lent.release()
      return false
    }
    state.withLock { state in
      if state.turn == turn { state.handle = handle }
    }
    return true
  }

  @discardableResult
  func cancel() -> Bool {
    let (handle, work) = state.withLock { state in
      state.isCancelled = true
      defer {
        state.handle = 0
        state.work = nil
      }
      return (state.handle, state.work)
    }
    let isTaken = unsafe handle != 0 && service.pointee.cancel(handle) == crb_status(CRB_OK)
    // The callback will not run, so its reference is released here.
    if isTaken { unsafe Unmanaged.passUnretained(self).release() }
    // Released here, where the lock is not held.
    _ = work
    return isTaken
  }

  /// Cancels the timer because its instance ends. A task that waits for the timer must not wait for ever: it would keep the
  /// instance alive.
  func end() {
    cancel()
    onEnd?()
  }

  private func run() {
    // Otherwise the end of the instance has cancelled the timer, and drops its work.
    guard host.work.mayRun() else { return }
    runWork()
    host.work.ended()
  }

  /// Runs the work, and holds no reference to it afterwards unless the timer is armed again.
  private func runWork() {
    let work = state.withLock { state in
      state.handle = 0
      state.turn += 1
      defer { state.work = nil }
      return state.work
    }
    guard let work else { return }
    work()
    let goesOn = interval > 0 && armAgain(work)
    if !goesOn { host.work.remove(self) }
  }

  /// Arms the timer for the next time that has not passed yet.
  private func armAgain(_ work: @escaping @Sendable () -> Void) -> Bool {
    let now = unsafe service.pointee.now_ns()
    let delay: UInt64? = state.withLock { state in
      guard !state.isCancelled else { return nil }
      state.due &+= interval
      if state.due <= now { state.due = now &+ interval }
      state.work = work
      return state.due &- now
    }
    guard let delay else { return false }
    if arm(delay) { return true }
    state.withLock { $0.work = nil }
    return false
  }

  private static let fire: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
    guard let user = unsafe user else { return }
    unsafe Unmanaged<TimerWork>.fromOpaque(user).takeRetainedValue().run()
  }
}
