internal import CTestHost
internal import Glibc
internal import Synchronization

/// Counts the exchanges of a check, so that a finding can name the one that provoked it.
///
/// A check sends the same exchanges in the same order each time. A copy of the process continues with its own count.
enum ExchangeCounter {
  /// The end of a check that is not needed any further.
  private struct Limit: Sendable {
    let exchange: Int
    let thread: pthread_t
    let process: pid_t
    let finish: @Sendable () -> Never
  }

  private static let begun = Atomic(0)
  private static let running = Atomic(0)
  private static let limit = Mutex<Limit?>(nil)

  /// The number of the exchange that runs, or was the last. It is 0 before the first one, and while several run at once, because their
  /// order is not the same each time.
  static var current: Int { running.load(ordering: .relaxed) > 1 ? 0 : begun.load(ordering: .relaxed) }

  /// From now on, the beginning of an exchange after this one ends the check, if no other runs. Only this thread does so.
  static func finish(after exchange: Int, _ finish: @escaping @Sendable () -> Never) {
    limit.withLock { $0 = Limit(exchange: exchange, thread: pthread_self(), process: getpid(), finish: finish) }
  }

  /// Notes that an exchange begins.
  static func begin() {
    let isAlone = running.add(1, ordering: .relaxed).oldValue == 0
    if isAlone, let limit = limit.withLock(\.self), begun.load(ordering: .relaxed) >= limit.exchange,
      pthread_self() == limit.thread, getpid() == limit.process
    {
      limit.finish()
    }
    begun.add(1, ordering: .relaxed)
    note()
  }

  /// Notes that an exchange has ended.
  static func end() {
    running.subtract(1, ordering: .relaxed)
    note()
  }

  /// For the supervisor of a process that ends without a report.
  private static func note() {
    if let record = unsafe FlightRecord.shared { unsafe record.pointee.exchanges = UInt64(current) }
  }
}
