/// Is told what went wrong without the caller noticing.
public protocol ChainObserver: Sendable {
  /// The cache could not be read; the chain went on as after a miss.
  func cacheReadFailed(_ error: any Error, operationName: String?)
  /// A result could not be written to the cache; the caller got it all the same.
  func cacheWriteFailed(_ error: any Error, operationName: String?)
}
