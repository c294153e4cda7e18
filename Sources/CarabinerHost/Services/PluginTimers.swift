internal import CCarabiner
internal import Synchronization

/// The timers plugins have armed.
final class PluginTimers: Sendable {
  typealias Fire = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// How many may be armed at once.
  static let maximumTimers = 65_536

  static let shared = PluginTimers()

  private struct State {
    var next: UInt64 = 1
    var armed: Set<UInt64> = []
  }

  private let state = Mutex(State())

  func arm(_ delay: UInt64, _ fire: Fire?, _ user: UnsafeMutableRawPointer?) -> crb_timer {
    guard let fire = unsafe fire else { return 0 }
    let id: UInt64? = state.withLock { state in
      guard state.armed.count < Self.maximumTimers else { return nil }
      defer { state.next += 1 }
      state.armed.insert(state.next)
      return state.next
    }
    guard let id else { return 0 }
    let context = unsafe CallbackContext(user)
    let subject = CrashSubject.current
    HostEnvironment.current.schedule(.nanoseconds(Int64(clamping: delay))) {
      if self.take(id) { subject.during(.callback) { unsafe fire(context.pointer) } }
    }
    return id
  }

  func cancel(_ timer: crb_timer) -> Bool { take(timer) }

  /// Whoever takes a timer out decides whether it fires.
  private func take(_ id: UInt64) -> Bool { state.withLock { $0.armed.remove(id) != nil } }
}
