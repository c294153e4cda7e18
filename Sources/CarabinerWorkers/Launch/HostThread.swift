internal import CLinux
internal import CarabinerBridge
internal import Glibc

/// Threads of the host that may block. The threads of Swift's pool must not.
enum HostThread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Runs a body on a new thread.
  ///
  /// - Parameter name: At most 15 bytes.
  static func run(_ name: String, _ body: @escaping @Sendable () -> Void) throws(HostError) {
    let start = unsafe Unmanaged.passRetained(Start(name, body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        unsafe CLinux_nameThisThread(start.name)
        HostThread.blockSignals()
        start.body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      unsafe start.release()
      throw HostError(system: code, "a thread cannot be started; raise the limit of threads")
    }
    pthread_detach(thread)
  }

  /// Signals are handled by the threads of the program.
  private static func blockSignals() {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}
