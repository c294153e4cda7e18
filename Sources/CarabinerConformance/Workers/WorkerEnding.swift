internal import CarabinerWorkers
internal import Glibc

/// The end of a process that has a worker.
enum WorkerEnding {
  /// Ends the launchers of this process, and waits until they have ended, so that no process is left.
  static func endLaunchers() { WorkerLauncher.endAll(within: .seconds(5)) }

  /// Ends this process by a signal.
  static func die(of signal: Int32) -> Never {
    Glibc.signal(signal, SIG_DFL)
    var all = sigset_t()
    unsafe sigemptyset(&all)
    unsafe sigaddset(&all, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &all, nil)
    kill(getpid(), signal)
    // The signal did not end the process.
    _exit(128 + signal)
  }
}
