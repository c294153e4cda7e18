internal import CLaunching
internal import Glibc

/// A worker that was started. It holds its launcher, which would end it.
package final class StartedWorker: Sendable {
  /// The number of the process, for messages only. Another process may get it after the end; 0 if it has ended already.
  package let process: Int32
  /// A descriptor that becomes readable when the process has ended. It is closed with this object.
  package let descriptor: Int32
  private let launcher: WorkerLauncher

  /// - Parameter descriptor: A pidfd, which the object owns.
  init(descriptor: Int32, launcher: WorkerLauncher) {
    self.descriptor = descriptor
    self.launcher = launcher
    process = max(0, CLaunching_processOf(descriptor))
  }

  deinit { close(descriptor) }

  /// Sends a signal to the process.
  ///
  /// - Returns: False if it has ended.
  @discardableResult
  package func signal(_ number: Int32) -> Bool { CLaunching_signal(descriptor, number) == 0 }

  /// Waits for the end of the process. It blocks the thread.
  ///
  /// - Returns: False if the process is still there after the time.
  package func waitForEnd(within limit: Duration) -> Bool { CLaunching_hasEnded(descriptor, limit.milliseconds) != 0 }
}

extension Duration {
  /// The duration in milliseconds, rounded up, at most a day.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds >= 86_400 { return 86_400_000 }
    return seconds < 0 ? 0 : Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
