internal import Glibc

/// How long something takes, less the time the thread stood in the queue for a processor: that is the machine's doing.
enum PatientClock {
  /// Runs a piece of work and gives the nanoseconds it took.
  static func time(_ work: () throws -> Void) rethrows -> UInt64 {
    let waited = queueTime
    let start = LaboratoryTimers.now
    try work()
    let wall = LaboratoryTimers.now &- start
    let inQueue = queueTime &- waited
    return wall > inQueue ? wall - inQueue : 0
  }

  /// Nanoseconds this thread has waited for a processor; 0 where the kernel does not say.
  private static var queueTime: UInt64 {
    let numbers = ProcessState.text(of: "/proc/thread-self/schedstat")?.split { $0 == " " || $0 == "\n" } ?? []
    return numbers.count > 1 ? UInt64(numbers[1]) ?? 0 : 0
  }
}
