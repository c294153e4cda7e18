internal import Glibc
internal import Synchronization

/// A thread for later work: services of the host answer on a thread of the host.
@safe final class TestHostTimers: @unchecked Sendable {
  // `state` guards everything that changes; `bell` is thread-safe.

  private struct Entry {
    let number: UInt64
    let due: UInt64
    let work: () -> Void
  }

  /// When work is done.
  enum Pace: Sendable {
    /// After its delay.
    case asTimePasses
    /// At ``doHeld()``, regardless of its delay.
    case held
  }

  private struct State {
    var pace = Pace.asTimePasses
    var entries: [Entry] = []
    var next: UInt64 = 1
    var hasThread = false
    var beginsAtCancel = false
    /// The number of work items that began when they were cancelled and that have not ended.
    var begun = 0
  }

  /// The delay of work that begins although it was just cancelled.
  private static let beginMicroseconds: UInt32 = 20_000

  private let state = Locked(State())
  private let bell = TestHostBell()

  /// CLOCK_MONOTONIC in nanoseconds.
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Does `work` once, after at least `delay` nanoseconds; returns a number to cancel it.
  func schedule(after delay: UInt64, _ work: @escaping () -> Void) -> UInt64 {
    let due = Self.now.addingReportingOverflow(delay)
    let (number, isFirst) = state.withLock { state in
      let number = state.next
      state.next += 1
      state.entries.append(Entry(number: number, due: due.overflow ? .max : due.partialValue, work: work))
      defer { state.hasThread = true }
      return (number, !state.hasThread)
    }
    if isFirst { start() }
    bell.ring()
    return number
  }

  /// Changes when work is done.
  func setPace(_ pace: Pace) {
    state.withLock { $0.pace = pace }
    bell.ring()
  }

  /// Does all held work on another thread, and waits for it.
  ///
  /// - Parameter patience: How long to wait for work if there is none.
  func doHeld(patience: Duration = .zero) {
    _ = bell.wait(patience) { self.count > 0 }
    let work = state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
    guard !work.isEmpty else { return }
    TestHostThread { for entry in work { entry.work() } }.join()
  }

  /// Sets whether each cancellation comes too late, so that the work begins a little later nevertheless.
  func beginAtCancel(_ isSo: Bool) { state.withLock { $0.beginsAtCancel = isSo } }

  /// Cancels work.
  ///
  /// - Returns: False if it ran, is running or was cancelled before.
  func cancel(_ number: UInt64) -> Bool {
    let (entry, begins) = state.withLock { state -> (Entry?, Bool) in
      guard let index = state.entries.firstIndex(where: { $0.number == number }) else { return (nil, false) }
      if state.beginsAtCancel { state.begun += 1 }
      return (state.entries.remove(at: index), state.beginsAtCancel)
    }
    guard let entry else { return false }
    guard begins else { return true }
    TestHostThread.detach {
      usleep(Self.beginMicroseconds)
      entry.work()
      self.state.withLock { $0.begun -= 1 }
      self.bell.ring()
    }
    return false
  }

  /// Waits for work that began at its cancellation.
  func waitForBegun() { _ = bell.wait(.seconds(10)) { self.state.withLock { $0.begun } == 0 } }

  /// Whether its thread exists, which a copy of the process does not have.
  var hasThread: Bool { state.withLock { $0.hasThread } }

  /// The number of waiting work items.
  var count: Int { state.withLock { $0.entries.count } }

  private func start() {
    TestHostThread.detach { [self] in
      while true {
        _ = bell.wait(.seconds(1)) { self.hasDue }
        while let entry = takeDue() { entry.work() }
      }
    }
  }

  private var hasDue: Bool {
    state.withLock { state in
      guard case .asTimePasses = state.pace else { return false }
      return state.entries.contains { $0.due <= Self.now }
    }
  }

  private func takeDue() -> Entry? {
    state.withLock { state in
      let now = Self.now
      guard case .asTimePasses = state.pace else { return nil }
      let due = state.entries.indices.filter { state.entries[$0].due <= now }
      guard let index = due.min(by: { state.entries[$0].due < state.entries[$1].due }) else { return nil }
      return state.entries.remove(at: index)
    }
  }
}
