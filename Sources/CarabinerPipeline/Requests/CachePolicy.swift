internal import Synchronization

/// How a query uses the cache and the server.
public enum CachePolicy: Sendable, Hashable {
  /// The cache; the server if something is missing there.
  case returnCacheDataElseFetch
  /// The server. The result is written to the cache.
  case fetchIgnoringCacheData
  /// The server. The result is not written to the cache.
  case fetchIgnoringCacheCompletely
  /// The cache.
  case returnCacheDataDontFetch
  /// The cache, if it has everything, and then the server.
  case returnCacheDataAndFetch

  private static let current = Mutex(CachePolicy.returnCacheDataElseFetch)

  /// The policy of calls that name none.
  public static var `default`: CachePolicy {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
