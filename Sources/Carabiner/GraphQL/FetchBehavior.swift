/// When a request reads the cache and when it uses the network.
public struct FetchBehavior: Sendable, Hashable {
  /// When the cache is read.
  public enum CacheRead: Sendable, Hashable {
    case never
    case beforeNetworkFetch
    case onNetworkFailure
  }

  /// When the network is used.
  public enum NetworkFetch: Sendable, Hashable {
    case never
    case always
    case onCacheMiss
  }

  /// When the cache is read.
  public var cacheRead: CacheRead
  /// When the network is used.
  public var networkFetch: NetworkFetch

  /// Creates a behaviour.
  public init(cacheRead: CacheRead, networkFetch: NetworkFetch) {
    self.cacheRead = cacheRead
    self.networkFetch = networkFetch
  }

  /// The cache; the network on a miss.
  public static let cacheFirst = Self(cacheRead: .beforeNetworkFetch, networkFetch: .onCacheMiss)
  /// The network; the cache if it fails.
  public static let networkFirst = Self(cacheRead: .onNetworkFailure, networkFetch: .always)
  /// The network.
  public static let networkOnly = Self(cacheRead: .never, networkFetch: .always)
  /// The cache.
  public static let cacheOnly = Self(cacheRead: .beforeNetworkFetch, networkFetch: .never)
  /// The cache if it has something, then the network.
  public static let cacheAndNetwork = Self(cacheRead: .beforeNetworkFetch, networkFetch: .always)
}
