internal import CLinux
internal import Glibc

/// Threads of the test host. They are POSIX threads, because plugins may ask for their thread.
@safe struct TestHostThread: @unchecked Sendable {
  // Safe: the number of a thread that is joined once.

  private let thread: pthread_t

  /// The name of all these threads, which distinguishes them from threads of the plugin.
  static let name = "laboratory"

  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Starts a thread.
  init(_ body: @escaping () -> Void) {
    var thread = pthread_t()
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe CLinux_nameThisThread(TestHostThread.name)
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, work)
    // Without a new thread the work is done here.
    if status != 0 {
      unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
      thread = pthread_self()
    }
    self.thread = thread
  }

  /// Waits until the thread has ended.
  func join() {
    if pthread_equal(thread, pthread_self()) == 0 { pthread_join(thread, nil) }
  }

  /// Starts a detached thread.
  static func detach(_ body: @escaping () -> Void) {
    let started = TestHostThread(body)
    if pthread_equal(started.thread, pthread_self()) == 0 { pthread_detach(started.thread) }
  }

  /// Runs work on a new thread and waits for it.
  static func run<Value>(_ body: @escaping () -> Value) -> Value? {
    let box = ValueBox<Value>()
    TestHostThread { box.value = body() }.join()
    return box.value
  }
}

/// The result of a thread, read after join().
private final class ValueBox<Value> {
  var value: Value?
}
