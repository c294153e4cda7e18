internal import CCarabiner
internal import Synchronization

/// The timers an instance has armed, and the tasks of its suspended hooks. Tasks may briefly outlive the instance, but never
/// run its `deinit`.
@safe final class InstanceWork: @unchecked Sendable {
  // Safe: the tables are static and read-only; everything else is protected by the lock.

  typealias Instance = any AnyObject & Sendable

  private struct State {
    var isClosed = false
    var timers: [ObjectIdentifier: TimerWork] = [:]
    /// The tasks of suspended hooks that have not resumed their hooks yet.
    var hooks: [crb_call: Task<Void, Never>] = [:]
    /// How many tasks have not ended yet, and how many timers are running their work.
    var tasksUnderWay = 0
    /// The instance, if it was destroyed while tasks or timers were running.
    var last: TakenOnce<Instance>?
  }

  private let table: UnsafePointer<crb_host>
  private let timer: UnsafePointer<crb_timer_service>?
  private let state = Mutex(State())

  init(_ table: UnsafePointer<crb_host>, _ timer: UnsafePointer<crb_timer_service>?) {
    unsafe self.table = unsafe table
    unsafe self.timer = unsafe timer
  }

  // MARK: Timers

  /// Registers a timer.
  ///
  /// - Returns: False once the instance is being destroyed.
  func add(_ timer: TimerWork) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.timers[ObjectIdentifier(timer)] = timer }
      return !state.isClosed
    }
  }

  func remove(_ timer: TimerWork) { state.withLock { _ = $0.timers.removeValue(forKey: ObjectIdentifier(timer)) } }

  /// Allows a timer to run its work. If it may, ``ended()`` must be called after it.
  ///
  /// - Returns: False once the instance is being destroyed.
  func mayRun() -> Bool {
    state.withLock { state in
      if !state.isClosed { state.tasksUnderWay += 1 }
      return !state.isClosed
    }
  }

  // MARK: Tasks

  /// Starts the task of a suspended hook. The task must call ``willResume(_:)`` before it resumes the hook, and ``ended()`` at
  /// its end.
  func start(_ call: crb_call, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.tasksUnderWay += 1
      state.hooks[call] = Task { await work() }
    }
  }

  /// Removes the task, because the call may be suspended again as soon as it is resumed.
  func willResume(_ call: crb_call) { state.withLock { _ = $0.hooks.removeValue(forKey: call) } }

  /// Called at the end of a task or of a timer's work, which from then on has no references to the plugin's objects.
  func ended() {
    let last: TakenOnce<Instance>? = state.withLock { state in
      state.tasksUnderWay -= 1
      guard state.tasksUnderWay == 0 else { return nil }
      defer { state.last = nil }
      return state.last
    }
    guard let last else { return }
    // The instance must be destroyed on a thread of the host and not in a task, so a timer does it. The timer uses the
    // library's id, because the host has released the instance's id by now.
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
      if let user = unsafe user { _ = unsafe Unmanaged<TakenOnce<Instance>>.fromOpaque(user).takeRetainedValue().take() }
    }
    let lent = unsafe Unmanaged.passRetained(last)
    let armed = unsafe timer.map { unsafe $0.pointee.arm(table.pointee.`self`, 0, release, lent.toOpaque()) } ?? 0
    if armed == 0 { unsafe lent.release() }
  }

  /// Cancels the task of a call that was cancelled.
  func cancel(_ call: crb_call) { state.withLock { $0.hooks[call] }?.cancel() }

  // MARK: The end

  /// Cancels the timers and tasks of an instance that is being destroyed. The instance is kept until those that run have ended.
  func close(_ instance: Instance?) {
    let (timers, tasks) = state.withLock { state in
      state.isClosed = true
      if let instance, state.tasksUnderWay > 0 { state.last = TakenOnce(instance) }
      defer { state.timers = [:] }
      return (Array(state.timers.values), Array(state.hooks.values))
    }
    for timer in timers { timer.end() }
    for task in tasks { task.cancel() }
  }
}

/// A value that can be taken once. The object that passes it on then no longer keeps it alive.
final class TakenOnce<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
