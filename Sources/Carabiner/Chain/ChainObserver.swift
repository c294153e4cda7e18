/// Is told what the caller does not notice: what went wrong without being its business, and how often the chain had to try.
public protocol ChainObserver: Sendable {
  /// The cache could not be read; the chain went on as after a miss.
  func cacheReadFailed(_ error: any Error, operationName: String?)
  /// A result could not be written to the cache; the caller got it all the same.
  func cacheWriteFailed(_ error: any Error, operationName: String?)
  /// The cache was asked for a result, and had it or not; one that could not be read had nothing.
  func cacheWasRead(isHit: Bool)
  /// An operation is started again, because a stage asked for that.
  func operationIsRetried()
}

extension ChainObserver {
  /// Does nothing.
  public func cacheWasRead(isHit: Bool) {}
  /// Does nothing.
  public func operationIsRetried() {}
}
