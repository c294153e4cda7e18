internal import FoundationEssentials
internal import Synchronization

/// Remembers the endpoints that do not support persisted queries.
///
/// Interceptors may exist for one request only. This object is shared by all requests.
public final class PersistedQuerySupport: Sendable {
  /// The default of interceptors: one list for the whole process.
  public static let shared = PersistedQuerySupport()

  /// The maximal number of endpoints, because their URLs may come from outside.
  private static let maximumEndpoints = 4096

  private let refusing = Mutex<Set<String>>([])

  /// Creates an empty list.
  public init() {}

  /// Whether this endpoint does not support persisted queries.
  public func isRefused(by endpoint: String) -> Bool { refusing.withLock { $0.contains(endpoint) } }

  /// Remembers that this endpoint does not support persisted queries.
  public func refused(by endpoint: String) {
    refusing.withLock { refusing in
      if refusing.count < Self.maximumEndpoints { refusing.insert(endpoint) }
    }
  }
}
