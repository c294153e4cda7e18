internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// How long hooks block their thread, without the time in which the thread waited for a processor because of the machine's
/// load.
final class BlockingClock: Sendable {
  private struct State {
    var start: UInt64 = 0
    var waited: UInt64 = 0
    var least: [Hook: UInt64] = [:]
    var most: [Hook: UInt64] = [:]
    var blocks: [Hook: Int] = [:]
    var waits: [Hook: Int] = [:]
    var worked: UInt64 = 0
  }

  /// The longest a hook may take, in nanoseconds.
  static let limit: UInt64 = 100_000_000
  /// A shorter time, which a hook may wait a few times.
  static let shortWait: UInt64 = 5_000_000

  private let state = Mutex(State())
  /// The kernel's counters of the thread that created this clock. The file stays open, because it is read twice per hook.
  private let statistics = unsafe open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)

  deinit { if statistics >= 0 { close(statistics) } }

  /// Called before a hook and after it, on the hook's thread.
  func note(_ isBefore: Bool, _ hook: Hook) {
    let now = TestHostTimers.now
    let waited = waited
    let worked = Self.worked
    state.withLock { state in
      guard !isBefore else {
        state.start = TestHostTimers.now
        state.waited = waited
        state.worked = worked
        return
      }
      let wall = now &- state.start
      let ready = waited &- state.waited
      let time = wall > ready ? wall - ready : 0
      state.least[hook] = min(state.least[hook] ?? .max, time)
      state.most[hook] = max(state.most[hook] ?? 0, time)
      if time > Self.shortWait &+ (worked &- state.worked) { state.waits[hook, default: 0] += 1 }
      if time > Self.limit { state.blocks[hook, default: 0] += 1 }
    }
  }

  /// The shortest time of each hook, in nanoseconds.
  var least: [(Hook, UInt64)] {
    state.withLock { $0.least.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) } }
  }

  /// The hooks that took longer than the limit at least once, and the longest time of each.
  var longest: [Hook: UInt64] { state.withLock { $0.most.filter { $0.value > Self.limit } } }

  /// How often each hook waited longer than the shorter time.
  var waits: [Hook: Int] { state.withLock { $0.waits } }

  /// How often each hook took longer than the limit.
  var blocks: [Hook: Int] { state.withLock { $0.blocks } }

  /// The processor time of this thread.
  private static var worked: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// How long the thread was ready and had no processor; 0 if the kernel does not report it.
  private var waited: UInt64 {
    var text = [UInt8](repeating: 0, count: 96)
    guard statistics >= 0 else { return 0 }
    let count = unsafe text.withUnsafeMutableBytes { unsafe pread(statistics, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return 0 }
    // The second of three numbers.
    let numbers = text[..<count].split(separator: UInt8(ascii: " "))
    return numbers.count > 1 ? numbers[1].reduce(0) { $0 &* 10 &+ UInt64($1 &- UInt8(ascii: "0")) } : 0
  }
}
