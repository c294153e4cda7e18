internal import CarabinerHost
internal import Synchronization

/// How long hooks keep their thread, without the time it waited for a processor: that is the machine's doing.
final class BlockingClock: Sendable {
  private struct State {
    var start: UInt64 = 0
    var waited: UInt64 = 0
    var least: [Hook: UInt64] = [:]
  }

  private let state = Mutex(State())

  /// Called before a hook and after it, on the hook's thread.
  func note(_ isBefore: Bool, _ hook: Hook) {
    let now = LaboratoryTimers.now
    let waited = Self.waited
    state.withLock { state in
      guard !isBefore else {
        state.start = LaboratoryTimers.now
        state.waited = waited
        return
      }
      let wall = now &- state.start
      let ready = waited &- state.waited
      let time = wall > ready ? wall - ready : 0
      state.least[hook] = min(state.least[hook] ?? .max, time)
    }
  }

  /// The shortest time of each hook, in nanoseconds: what it takes at least.
  var least: [(Hook, UInt64)] {
    state.withLock { $0.least.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) } }
  }

  /// How long this thread was ready and had no processor, as the kernel counts.
  private static var waited: UInt64 {
    let text = ProcessState.text(of: "/proc/thread-self/schedstat") ?? ""
    return text.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0
  }
}
