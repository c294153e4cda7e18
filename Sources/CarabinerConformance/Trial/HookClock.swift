internal import CTestHost
internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// How long hooks take and how often they allocate. It counts the processor time of their thread, so the load of the machine does not
/// matter.
final class HookClock: Sendable {
  private struct State {
    var start: UInt64 = 0
    var allocationsBefore: UInt64 = 0
    var times: [UInt64] = []
    var allocations: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Called before a hook and after it.
  func note(_ isBefore: Bool) {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    let now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    let allocations = CTestHost_allocations()
    state.withLock { state in
      if isBefore {
        state.start = now
        state.allocationsBefore = allocations
      } else {
        state.times.append(now &- state.start)
        state.allocations += allocations &- state.allocationsBefore
      }
    }
  }

  var hooks: Int { state.withLock { $0.times.count } }
  var allocations: UInt64 { state.withLock { $0.allocations } }
  /// The nanoseconds of all hooks together.
  var total: UInt64 { state.withLock { $0.times.reduce(0, &+) } }

  /// The nanoseconds that this share of all hooks does not exceed: for 100 hooks and 0.99 the time of the second slowest.
  func percentile(_ part: Double) -> UInt64 {
    let times = state.withLock { $0.times.sorted() }
    let count = Int((Double(times.count) * part).rounded(.up))
    return times.isEmpty ? 0 : times[min(max(count, 1), times.count) - 1]
  }
}

/// Which hooks make system calls.
final class SystemCallCounter: Sendable {
  private let first = Mutex<[Hook: Int64]>([:])

  /// Whether this machine can report it.
  var isPossible: Bool {
    var number: Int64 = 0
    guard CTestHost_beginSystemCalls() == 0 else { return false }
    _ = unsafe CTestHost_endSystemCalls(&number)
    return true
  }

  func begin() { CTestHost_beginSystemCalls() }

  func end(_ hook: Hook) {
    var number: Int64 = 0
    if unsafe CTestHost_endSystemCalls(&number) > 0 { first.withLock { $0[hook] = $0[hook] ?? number } }
  }

  /// Removes a hook that suspended, because it needs system calls.
  func forgive(_ hook: Hook) { first.withLock { $0[hook] = nil } }

  /// Returns the findings in the order of the hooks, and forgets them.
  func take() -> [(Hook, Int64)] {
    first.withLock { first in
      defer { first = [:] }
      return first.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }
  }
}
