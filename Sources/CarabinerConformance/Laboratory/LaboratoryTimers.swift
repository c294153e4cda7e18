internal import Glibc
internal import Synchronization

/// A thread that does things later: what the host's services promise to do on a thread of the host.
@safe final class LaboratoryTimers: @unchecked Sendable {
  // All that changes is behind `state`; `bell` is made for sharing.

  private struct Entry {
    let number: UInt64
    let due: UInt64
    let work: () -> Void
  }

  /// When work is done.
  enum Pace: Sendable {
    /// When its time has come.
    case asTimePasses
    /// When ``doHeld()`` is called, whatever its time.
    case held
  }

  private struct State {
    var pace = Pace.asTimePasses
    var entries: [Entry] = []
    var next: UInt64 = 1
    var hasThread = false
  }

  private let state = unsafe Mutex(State())
  private let bell = LaboratoryBell()

  /// CLOCK_MONOTONIC in nanoseconds.
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Does `work` once, not before `delay` nanoseconds passed; gives a number to take it back by.
  func schedule(after delay: UInt64, _ work: @escaping () -> Void) -> UInt64 {
    let due = Self.now.addingReportingOverflow(delay)
    let (number, isFirst) = unsafe state.withLock { state in
      let number = unsafe state.next
      unsafe state.next += 1
      unsafe state.entries.append(Entry(number: number, due: due.overflow ? .max : due.partialValue, work: work))
      defer { unsafe state.hasThread = true }
      return unsafe (number, !state.hasThread)
    }
    if isFirst { start() }
    bell.ring()
    return number
  }

  /// Changes when work is done.
  func setPace(_ pace: Pace) {
    unsafe state.withLock { unsafe $0.pace = pace }
    bell.ring()
  }

  /// Does all work that is held now, on another thread, and waits for it.
  ///
  /// - Parameter patience: How long to wait for some if there is none.
  func doHeld(patience: Duration = .zero) {
    _ = bell.wait(patience) { self.count > 0 }
    let work = unsafe state.withLock { state in
      defer { unsafe state.entries = [] }
      return unsafe state.entries
    }
    guard !work.isEmpty else { return }
    LaboratoryThread { for entry in work { entry.work() } }.join()
  }

  /// Takes work back; false if it ran, runs or was taken back before.
  func cancel(_ number: UInt64) -> Bool {
    unsafe state.withLock { state in
      guard let index = unsafe state.entries.firstIndex(where: { $0.number == number }) else { return false }
      unsafe state.entries.remove(at: index)
      return true
    }
  }

  /// How much work waits.
  var count: Int { unsafe state.withLock { unsafe $0.entries.count } }

  private func start() {
    LaboratoryThread.detach { [self] in
      while true {
        _ = bell.wait(.seconds(1)) { self.hasDue }
        while let entry = takeDue() { entry.work() }
      }
    }
  }

  private var hasDue: Bool {
    unsafe state.withLock { state in
      guard case .asTimePasses = unsafe state.pace else { return false }
      return unsafe state.entries.contains { $0.due <= Self.now }
    }
  }

  private func takeDue() -> Entry? {
    unsafe state.withLock { state in
      let now = Self.now
      guard case .asTimePasses = unsafe state.pace else { return nil }
      let due = unsafe state.entries.indices.filter { unsafe state.entries[$0].due <= now }
      guard let index = unsafe due.min(by: { unsafe state.entries[$0].due < state.entries[$1].due }) else { return nil }
      return unsafe state.entries.remove(at: index)
    }
  }
}
