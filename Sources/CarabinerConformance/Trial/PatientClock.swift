internal import Glibc

/// Measures work, without the time for which the thread waited for a processor because of the load of the machine.
enum PatientClock {
  /// Runs work and returns its nanoseconds.
  static func time(_ work: () throws -> Void) rethrows -> UInt64 {
    let waited = queueTime
    let start = TestHostTimers.now
    try work()
    let wall = TestHostTimers.now &- start
    let inQueue = queueTime &- waited
    return wall > inQueue ? wall - inQueue : 0
  }

  /// The time for which this thread has waited for a processor, in nanoseconds; 0 if the kernel does not report it.
  static var queueTime: UInt64 {
    let numbers = ProcessState.text(of: "/proc/thread-self/schedstat")?.split { $0 == " " || $0 == "\n" } ?? []
    return numbers.count > 1 ? UInt64(numbers[1]) ?? 0 : 0
  }
}
