internal import CConfine
internal import CarabinerBridge
internal import Synchronization

/// The counts of a worker since it was made, over all its processes. Each event is counted where it is noticed.
final class WorkerCounters: Sendable {
  /// Requests of a worker that the host answers.
  enum Upcall: String, CaseIterable {
    case check, fetch, store, log, key
  }

  /// Posts of hooks, and hooks that were answered.
  let (crossings, hooks) = (WorkerCount(), WorkerCount())
  /// Posts that a process that ended had not begun, and that went to the next one.
  let sentAgain = WorkerCount()
  /// Calls that failed because a process had ended.
  let lostCalls = WorkerCount()
  /// Lines of plugins that were not logged, because there were too many.
  let droppedLines = WorkerCount()
  /// Limits the lines of its processes in the log.
  let log = LogAllowance()
  /// The bytes of long answers that the host keeps for calls.
  let held: BufferAccount
  /// The times from a post until its lane took it.
  let begin = WorkerWaits()
  private let upcalls = Upcall.allCases.map { _ in WorkerCount() }
  private let refusals = Mutex(Refusals())

  private struct Refusals {
    /// The numbers that are in the log.
    var logged: Set<Int> = []
    /// The refused calls of processes that have ended, by number.
    var ended: [Int: Int] = [:]
  }

  /// - Parameter bytes: The most bytes of answers that the host keeps.
  init(holding bytes: Int) { held = BufferAccount(limit: bytes) }

  func note(_ upcall: Upcall) { upcalls[Upcall.allCases.firstIndex(of: upcall) ?? 0].add() }

  /// The requests of each kind.
  var upcallCounts: [(kind: String, count: Int)] {
    zip(Upcall.allCases, upcalls).map { ($0.rawValue, $1.value) }
  }
}

extension WorkerCounters {
  /// The name of a system call.
  static func callName(_ number: Int) -> String {
    guard number >= 0 else { return "unknown" }
    return unsafe CConfine_callName(Int64(number)).map { unsafe String(cString: $0) } ?? "number \(number)"
  }

  /// Whether a refused call is logged for the first time. Later calls with its number return false.
  func isFirst(_ number: Int) -> Bool { refusals.withLock { $0.logged.insert(number).inserted } }

  /// Adds the refused calls of a process that has ended.
  func addRefusals(of process: WorkerProcess) {
    let last = process.control.refusals
    refusals.withLock { state in for refusal in last { state.ended[refusal.number, default: 0] += refusal.count } }
  }

  /// The refused calls of all processes by name, with those of the one that runs.
  func refusedCalls(with process: WorkerProcess?) -> [String: Int] {
    var counts = refusals.withLock(\.ended)
    for refusal in process?.control.refusals ?? [] { counts[refusal.number, default: 0] += refusal.count }
    return Dictionary(counts.map { (Self.callName($0), $1) }, uniquingKeysWith: +)
  }
}

/// A counter that many threads may increment.
final class WorkerCount: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add(_ more: Int = 1) { count.wrappingAdd(more, ordering: .relaxed) }
}

/// A histogram of short times.
package final class WorkerWaits: Sendable {
  /// The histogram at one moment.
  package struct Summary: Sendable, Hashable {
    /// The number of times in each bucket of ``WorkerWaits/bounds``, not cumulative, and the number of longer ones.
    package var counts = Array(repeating: 0, count: WorkerWaits.bounds.count + 1)
    /// The sum of all times.
    package var nanoseconds = 0

    /// No times.
    package init() {}

    package static func + (one: Summary, other: Summary) -> Summary {
      var sum = one
      for index in sum.counts.indices { sum.counts[index] += other.counts[index] }
      sum.nanoseconds += other.nanoseconds
      return sum
    }
  }

  /// The upper bounds in nanoseconds: 1 µs to 1 s.
  package static let bounds: [UInt64] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
  ]

  private let counts = (0...WorkerWaits.bounds.count).map { _ in WorkerCount() }
  private let sum = WorkerCount()

  func record(_ nanoseconds: UInt64) {
    counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count].add()
    sum.add(Int(clamping: nanoseconds))
  }

  var summary: Summary {
    var summary = Summary()
    summary.counts = counts.map(\.value)
    summary.nanoseconds = sum.value
    return summary
  }
}
