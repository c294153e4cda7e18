internal import Dispatch
internal import Synchronization

/// A value that one thread waits for and another one sets once.
final class WaitingResult<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)

  /// Sets the value. A second one is ignored.
  func set(_ new: Value) {
    value.withLock { if $0 == nil { $0 = new } }
    semaphore.signal()
  }

  /// Waits for the value. It blocks the thread.
  ///
  /// - Returns: Nil if there is none after the time.
  func wait(within limit: Duration) -> Value? {
    // Every waiting thread passes the signal on, so that several can wait.
    if semaphore.wait(timeout: .now() + .milliseconds(Int(limit.milliseconds))) == .success { semaphore.signal() }
    return value.withLock { $0 }
  }
}
