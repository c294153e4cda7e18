/// How an operation uses cache and network.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  case cacheFirst
  case networkFirst
  case networkOnly
  case cacheOnly
  case cacheAndNetwork

  /// The default policy of queries.
  public static let `default`: Self = .cacheFirst

  /// The fetch behaviour of this policy.
  public var fetchBehavior: FetchBehavior {
    switch self {
    case .cacheFirst: .cacheFirst
    case .networkFirst: .networkFirst
    case .networkOnly: .networkOnly
    case .cacheOnly: .cacheOnly
    case .cacheAndNetwork: .cacheAndNetwork
    }
  }

  /// The policies of queries, by their number of results.
  public enum Query: Sendable {
    /// Policies with exactly one result.
    public enum SingleResponse: Sendable, Hashable {
      case cacheFirst
      case networkFirst
      case networkOnly

      /// The default policy of queries.
      public static let `default`: Self = .cacheFirst

      var fetchBehavior: FetchBehavior {
        switch self {
        case .cacheFirst: .cacheFirst
        case .networkFirst: .networkFirst
        case .networkOnly: .networkOnly
        }
      }
    }

    /// The policy with at most one result.
    public enum CacheOnly: Sendable, Hashable {
      case cacheOnly
    }

    /// The policy with the cached result, if there is one, and then the result of the server.
    public enum CacheAndNetwork: Sendable, Hashable {
      case cacheAndNetwork
    }
  }

  /// The policies of subscriptions.
  public enum Subscription: Sendable, Hashable {
    case cacheThenNetwork
    case networkOnly

    /// The default policy of subscriptions.
    public static let `default`: Self = .cacheThenNetwork

    var fetchBehavior: FetchBehavior {
      switch self {
      case .cacheThenNetwork: .cacheAndNetwork
      case .networkOnly: .networkOnly
      }
    }
  }
}
