internal import CCarabiner
internal import Synchronization

/// The timers that plugins have armed.
final class PluginTimers: Sendable {
  typealias Fire = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// How many timers may be armed at once.
  static let maximumTimers = 65_536

  static let shared = PluginTimers()

  private struct State {
    /// The function that cancels each timer; nil while the timer is being armed.
    var armed: [crb_timer: HostEnvironment.Cancellation?] = [:]
  }

  private let state = Mutex(State())

  func arm(_ who: crb_self, _ delay: UInt64, _ fire: Fire?, _ user: UnsafeMutableRawPointer?) -> crb_timer {
    guard let fire = unsafe fire, let member = PluginRegistry.shared.caller(who) else { return 0 }
    // The number is random so that another plugin cannot guess it: cancel does not check its caller.
    let id = crb_timer.random(in: 1...(.max))
    let hasRoom = state.withLock { state in
      guard state.armed.count < Self.maximumTimers, state.armed[id] == nil else { return false }
      state.armed[id] = .some(nil)
      return true
    }
    guard hasRoom else { return 0 }
    let context = unsafe CallbackContext(user)
    let subject = CrashSubject.current
    // A library is not bound to a generation, and its timers may outlive one.
    let environment = member.environment ?? .withoutLoop
    let cancellation = environment.schedule(.nanoseconds(Int64(clamping: delay))) {
      if self.take(id) != nil { subject.during(.callback) { unsafe fire(context.pointer) } }
    }
    let isArmed = state.withLock { state in
      guard state.armed[id] != nil else { return false }
      state.armed[id] = .some(cancellation)
      return true
    }
    // It has already fired, or another thread has cancelled it.
    if !isArmed { cancellation() }
    return id
  }

  func cancel(_ timer: crb_timer) -> Bool {
    guard let cancellation = take(timer) else { return false }
    cancellation?()
    return true
  }

  /// Removes a timer. Firing and cancelling both call this, and only the first call gets the timer.
  private func take(_ id: crb_timer) -> HostEnvironment.Cancellation?? { state.withLock { $0.armed.removeValue(forKey: id) } }
}
