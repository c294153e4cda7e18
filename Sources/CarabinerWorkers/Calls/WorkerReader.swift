internal import CLinux
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

/// The thread that reads what one process announces: answers for suspended tasks, callbacks, and the lines that its plugins print.
///
/// Each process has its own. A worker whose messages take long to copy and to parse delays its own calls by that, and no others.
final class WorkerReader: Sendable {
  private let wakeUp = CLinux_newWakeUp()
  /// Whether the thread sleeps until something is announced, because no hook is under way.
  private let sleepsLong = Atomic<Bool>(false)
  private let isEnded = Atomic<Bool>(false)
  /// How often hooks that run are looked at, in milliseconds.
  static let tick: Int32 = 20

  deinit { if wakeUp >= 0 { close(wakeUp) } }

  /// Makes the thread check the running hooks, because one takes long.
  func watch() { if sleepsLong.exchange(false, ordering: .sequentiallyConsistent) { ring() } }

  /// Makes the thread take the answers that have arrived.
  func ring() {
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  /// Reads what a process announces, until ``end()``.
  func read(_ process: WorkerProcess) throws(HostError) {
    guard wakeUp >= 0 else {
      throw HostError(system: EMFILE, "an event counter for a worker cannot be made; raise the limit of open files")
    }
    try HostThread.run("carabiner-reads") { self.run(process) }
  }

  /// The process has ended.
  func end() {
    isEnded.store(true, ordering: .releasing)
    ring()
  }

  private func run(_ process: WorkerProcess) {
    var waits = [wakeUp, process.bell, process.output.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while !isEnded.load(ordering: .acquiring) {
      // A hook that is suspended between the look and the sleep finds the flag, and wakes the thread.
      sleepsLong.store(true, ordering: .sequentiallyConsistent)
      let timeout = process.nextTurn
      if timeout >= 0 { sleepsLong.store(false, ordering: .relaxed) }
      guard unsafe poll(&waits, nfds_t(waits.count), timeout) >= 0 || errno == EINTR else { return process.stop(.stopped) }
      if waits[0].revents != 0 { _ = Self.count(of: wakeUp) }
      process.readAnnouncements(rings: waits[1].revents != 0 ? Self.count(of: process.bell) : 0)
      if waits[2].revents != 0, !process.output.read() {
        waits[2].fd = -1
        process.output.close()
      }
      process.look(at: MonotonicClock.nanoseconds)
    }
    process.output.drain()
    process.output.close()
  }

  /// How often an event counter was incremented since the last time.
  private static func count(of descriptor: Int32) -> UInt64 {
    var value: UInt64 = 0
    _ = unsafe Glibc.read(descriptor, &value, MemoryLayout<UInt64>.size)
    return value
  }
}
