internal import CCarabiner
internal import Synchronization

/// What an instance has started outside of hooks: timers, and tasks of suspended hooks. None of it outlives the instance for long, and
/// none of it is where the instance ends.
@safe final class InstanceWork: @unchecked Sendable {
  // The tables are the host's, static and read-only; the rest is behind the lock.

  private struct State {
    var isClosed = false
    var timers: [ObjectIdentifier: TimerWork] = [:]
    /// The tasks of suspended hooks, until they resume their hook.
    var hooks: [crb_call: Task<Void, Never>] = [:]
    /// How many of the tasks have not ended.
    var tasksUnderWay = 0
    /// The instance, if it was destroyed while tasks were under way.
    var last: TakenOnce<PluginBox>?
  }

  private let table: UnsafePointer<crb_host>
  private let timer: UnsafePointer<crb_timer_service>?
  private let state = Mutex(State())

  init(_ table: UnsafePointer<crb_host>, _ timer: UnsafePointer<crb_timer_service>?) {
    unsafe self.table = unsafe table
    unsafe self.timer = unsafe timer
  }

  // MARK: Timers

  /// - Returns: False once the instance is being destroyed.
  func add(_ timer: TimerWork) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.timers[ObjectIdentifier(timer)] = timer }
      return !state.isClosed
    }
  }

  func remove(_ timer: TimerWork) { state.withLock { _ = $0.timers.removeValue(forKey: ObjectIdentifier(timer)) } }

  // MARK: Tasks

  /// Starts the task of a suspended hook. It calls ``willResume(_:)`` and, last of all, ``ended()``.
  func start(_ call: crb_call, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.tasksUnderWay += 1
      state.hooks[call] = Task { await work() }
    }
  }

  /// Once it is resumed, the call may be suspended again.
  func willResume(_ call: crb_call) { state.withLock { _ = $0.hooks.removeValue(forKey: call) } }

  /// The last thing a task does: from here on it holds nothing of the plugin's.
  func ended() {
    let last: TakenOnce<PluginBox>? = state.withLock { state in
      state.tasksUnderWay -= 1
      guard state.tasksUnderWay == 0 else { return nil }
      defer { state.last = nil }
      return state.last
    }
    guard let last else { return }
    // The end of the instance is not for a task of its own: a thread of the host runs it. The id is the library's, as the instance's
    // is given back by now.
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
      if let user = unsafe user { _ = unsafe Unmanaged<TakenOnce<PluginBox>>.fromOpaque(user).takeRetainedValue().take() }
    }
    let lent = unsafe Unmanaged.passRetained(last)
    let armed = unsafe timer.map { unsafe $0.pointee.arm(table.pointee.`self`, 0, release, lent.toOpaque()) } ?? 0
    if armed == 0 { unsafe lent.release() }
  }

  /// The call was cancelled: so is the work it waits for.
  func cancel(_ call: crb_call) { state.withLock { $0.hooks[call] }?.cancel() }

  // MARK: The end

  /// Ends the timers and cancels the tasks of an instance that is destroyed; one that tasks still use stays until they have ended.
  func close(_ instance: PluginBox?) {
    let (timers, tasks) = state.withLock { state in
      state.isClosed = true
      if let instance, state.tasksUnderWay > 0 { state.last = TakenOnce(instance) }
      defer { state.timers = [:] }
      return (Array(state.timers.values), Array(state.hooks.values))
    }
    for timer in timers { timer.cancel() }
    for task in tasks { task.cancel() }
  }
}

/// Something that is taken out once, so that whoever passes it on need not keep it alive.
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
