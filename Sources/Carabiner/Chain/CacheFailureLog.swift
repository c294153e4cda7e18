internal import Logging
internal import Synchronization

/// Logs and counts the failed cache reads and writes of a transport.
public final class CacheFailureLog: ChainObserver {
  private let logger = Logger(label: "carabiner.cache")
  private let reads = Atomic<Int>(0)
  private let writes = Atomic<Int>(0)

  /// A log without failures.
  public init() {}

  /// How many reads failed.
  public var readFailures: Int { reads.load(ordering: .relaxed) }
  /// How many writes failed.
  public var writeFailures: Int { writes.load(ordering: .relaxed) }

  public func cacheReadFailed(_ error: any Error, operationName: String?) {
    reads.add(1, ordering: .relaxed)
    logger.warning("cache read failed", metadata: metadata(error, operationName))
  }

  public func cacheWriteFailed(_ error: any Error, operationName: String?) {
    writes.add(1, ordering: .relaxed)
    logger.warning("cache write failed; the result is delivered", metadata: metadata(error, operationName))
  }

  private func metadata(_ error: any Error, _ operationName: String?) -> Logger.Metadata {
    ["operation": "\(operationName ?? "anonymous")", "error": "\(error)"]
  }
}
