internal import Carabiner
internal import Synchronization

/// Counts what the chains of all generations do without their callers noticing, and logs what goes wrong there.
final class ChainCounters: ChainObserver {
  private let log = CacheFailureLog()
  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)
  private let retried = Atomic<Int>(0)

  /// How often the cache had a result, and how often not.
  var cacheReads: (hits: Int, misses: Int) { (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed)) }
  /// How often the cache could not be read, and how often not be written.
  var cacheFailures: (reads: Int, writes: Int) { (log.readFailures, log.writeFailures) }
  /// How often an operation was started again.
  var retries: Int { retried.load(ordering: .relaxed) }

  func cacheReadFailed(_ error: any Error, operationName: String?) {
    log.cacheReadFailed(error, operationName: operationName)
  }

  func cacheWriteFailed(_ error: any Error, operationName: String?) {
    log.cacheWriteFailed(error, operationName: operationName)
  }

  func cacheWasRead(isHit: Bool) {
    if isHit { hits.add(1, ordering: .relaxed) } else { misses.add(1, ordering: .relaxed) }
  }

  func operationIsRetried() { retried.add(1, ordering: .relaxed) }
}
