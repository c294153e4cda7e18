internal import CLaboratory
internal import CarabinerHost
internal import Glibc
internal import Synchronization

/// How long hooks take and how often they allocate, by the processor's time of the thread they run on: whatever else the machine does
/// is no fault of the plugin.
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
    let allocations = CLaboratory_allocations()
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
  /// Nanoseconds of all hooks.
  var total: UInt64 { state.withLock { $0.times.reduce(0, &+) } }

  /// The most that this part of all hooks takes, in nanoseconds: of 100 hooks and 0.99, what the second slowest takes.
  func percentile(_ part: Double) -> UInt64 {
    let times = state.withLock { $0.times.sorted() }
    let count = Int((Double(times.count) * part).rounded(.up))
    return times.isEmpty ? 0 : times[min(max(count, 1), times.count) - 1]
  }
}

/// Which hooks make system calls.
final class SystemCallCounter: Sendable {
  private let first = Mutex<[Hook: Int64]>([:])

  /// Whether this machine can tell.
  var isPossible: Bool {
    var number: Int64 = 0
    guard CLaboratory_beginSystemCalls() == 0 else { return false }
    _ = unsafe CLaboratory_endSystemCalls(&number)
    return true
  }

  func begin() { CLaboratory_beginSystemCalls() }

  func end(_ hook: Hook) {
    var number: Int64 = 0
    if unsafe CLaboratory_endSystemCalls(&number) > 0 { first.withLock { $0[hook] = $0[hook] ?? number } }
  }

  /// A hook that waits has to say so to the system.
  func forgive(_ hook: Hook) { first.withLock { $0[hook] = nil } }

  /// Takes what was found, in the order of the hooks.
  func take() -> [(Hook, Int64)] {
    first.withLock { first in
      defer { first = [:] }
      return first.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }
  }
}
