internal import Glibc
internal import Synchronization

/// Does work on another thread at the moment when a plugin first reads the bytes of an event.
///
/// The plugin continues after the work, or after ``patienceMilliseconds`` if the work waits for the plugin.
final class FirstRead: @unchecked Sendable {
  // `work` runs once, on the thread in `thread`.

  private static let current = Mutex<FirstRead?>(nil)
  private static let patienceMilliseconds = 50

  private let work: () -> Void
  private let thread = Mutex<TestHostThread?>(nil)
  private let isDone = Atomic(false)

  init(_ work: @escaping () -> Void) {
    self.work = work
    Self.current.withLock { $0 = self }
  }

  /// Called by the handler of the signal, inside of the plugin's instruction.
  static func happens() {
    let read = current.withLock { current in
      defer { current = nil }
      current?.begin()
      return current
    }
    read?.wait()
  }

  private func begin() {
    let started = TestHostThread { [self] in
      // A new thread inherits the signal mask. In a signal handler, the signal is blocked.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      for signal in [SIGSEGV, SIGBUS] { unsafe sigaddset(&signals, signal) }
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      work()
      isDone.store(true, ordering: .releasing)
    }
    thread.withLock { $0 = started }
  }

  private func wait() {
    for _ in 0..<Self.patienceMilliseconds where !isDone.load(ordering: .acquiring) { usleep(1000) }
  }

  /// Ends the moment, and waits for the work if it has begun.
  func end() {
    Self.current.withLock { $0 = nil }
    thread.withLock { $0 }?.join()
  }
}
