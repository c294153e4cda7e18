internal import Carabiner
internal import Synchronization

/// Counts cache reads, cache failures and retries in the chains of all generations, and logs cache failures.
final class ChainCounters: ChainObserver {
  private let log = CacheFailureLog()
  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)
  private let retried = Atomic<Int>(0)

  /// The number of cache reads with and without a result.
  var cacheReads: (hits: Int, misses: Int) { (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed)) }
  /// The number of failed cache reads and writes.
  var cacheFailures: (reads: Int, writes: Int) { (log.readFailures, log.writeFailures) }
  /// The number of retries.
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
