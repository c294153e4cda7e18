internal import Glibc

/// A thread for blocking system calls, which must not run on Swift's own threads.
enum Thread {
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// - Throws: ``SocketFailure`` if the system cannot start a thread.
  static func start(_ body: @escaping @Sendable () -> Void) throws {
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Body(body))
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SocketFailure("pthread_create", code)
    }
    pthread_detach(thread)
  }
}
