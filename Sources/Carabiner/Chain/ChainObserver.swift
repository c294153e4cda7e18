/// Gets the events of a chain that its caller does not see.
public protocol ChainObserver: Sendable {
  /// The cache could not be read. The chain treats it as a miss.
  func cacheReadFailed(_ error: any Error, operationName: String?)
  /// A result could not be written to the cache. The caller still receives it.
  func cacheWriteFailed(_ error: any Error, operationName: String?)
  /// The cache was read: a hit or a miss. A read that fails is a miss.
  func cacheWasRead(isHit: Bool)
  /// An operation is started again because a stage requested a retry.
  func operationIsRetried()
}

extension ChainObserver {
  /// Does nothing.
  public func cacheWasRead(isHit: Bool) {}
  /// Does nothing.
  public func operationIsRetried() {}
}
