internal import CLinux
internal import Glibc

/// Threads of the test host. They are POSIX threads, because plugins may ask for their thread.
@safe struct TestHostThread: @unchecked Sendable {
  // Safe, because it only holds the number of a thread, which is joined once.

  private let thread: pthread_t

  /// The name of all these threads, which distinguishes them from threads of the plugin.
  static let name = "laboratory"

  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// How many bytes after a small stack are inaccessible, so that a large frame does not reach other memory.
  private static let guardBytes = 16 << 20

  /// Starts a thread.
  ///
  /// - Parameter stack: The bytes of its stack; the usual number if nil.
  init(stack: Int? = nil, _ body: @escaping () -> Void) {
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    if let stack {
      // libc adds the guard.
      unsafe pthread_attr_setstacksize(&attributes, stack)
      unsafe pthread_attr_setguardsize(&attributes, Self.guardBytes)
    }
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    let status = unsafe pthread_create(
      &thread, &attributes,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe CLinux_nameThisThread(TestHostThread.name)
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, work)
    // If no thread can be created, the work is done on this one.
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
  static func run<Value>(stack: Int? = nil, _ body: @escaping () -> Value) -> Value? {
    let box = ValueBox<Value>()
    TestHostThread(stack: stack) { box.value = body() }.join()
    return box.value
  }
}

/// The result of a thread, read after join().
private final class ValueBox<Value> {
  var value: Value?
}
