internal import Glibc
internal import Synchronization

/// Work on another thread in the moment in which a plugin reads the bytes of an event for the first time.
///
/// The plugin continues after the work, or after the patience if the work waits for the plugin.
final class FirstRead: @unchecked Sendable {
  // `work` runs once, on the thread that `thread` is.

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
      // A thread has the mask of the one that made it, and in a handler its signal is blocked.
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
