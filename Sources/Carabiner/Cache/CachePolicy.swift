/// How a caller wants cache and network to be asked.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  case cacheFirst
  case networkFirst
  case networkOnly
  case cacheOnly
  case cacheAndNetwork

  /// What a query does unless told otherwise.
  public static let `default`: Self = .cacheFirst

  /// The behaviour this policy stands for.
  public var fetchBehavior: FetchBehavior {
    switch self {
    case .cacheFirst: .cacheFirst
    case .networkFirst: .networkFirst
    case .networkOnly: .networkOnly
    case .cacheOnly: .cacheOnly
    case .cacheAndNetwork: .cacheAndNetwork
    }
  }

  /// The policies of queries, by how many results they bring.
  public enum Query: Sendable {
    /// Policies with exactly one result.
    public enum SingleResponse: Sendable, Hashable {
      case cacheFirst
      case networkFirst
      case networkOnly

      /// What a query does unless told otherwise.
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

    /// The policy with a result from the cache, if it has one, and one from the server.
    public enum CacheAndNetwork: Sendable, Hashable {
      case cacheAndNetwork
    }
  }

  /// The policies of subscriptions.
  public enum Subscription: Sendable, Hashable {
    case cacheThenNetwork
    case networkOnly

    /// What a subscription does unless told otherwise.
    public static let `default`: Self = .cacheThenNetwork

    var fetchBehavior: FetchBehavior {
      switch self {
      case .cacheThenNetwork: .cacheAndNetwork
      case .networkOnly: .networkOnly
      }
    }
  }
}
