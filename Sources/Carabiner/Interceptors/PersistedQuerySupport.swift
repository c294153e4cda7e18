internal import FoundationEssentials
internal import Synchronization

/// Remembers which endpoints said that they do not support persisted queries.
///
/// Interceptors live for one request; what a server cannot do holds for all that follow.
public final class PersistedQuerySupport: Sendable {
  /// What interceptors use unless they are given another: endpoints are the same for the whole process.
  public static let shared = PersistedQuerySupport()

  /// How many endpoints are remembered; their URLs may come from outside.
  private static let maximumEndpoints = 4096

  private let refusing = Mutex<Set<String>>([])

  /// Support of which nothing is known yet.
  public init() {}

  /// Whether this endpoint said that it does not support persisted queries.
  public func isRefused(by endpoint: String) -> Bool { refusing.withLock { $0.contains(endpoint) } }

  /// Keeps that this endpoint does not support persisted queries.
  public func refused(by endpoint: String) {
    refusing.withLock { refusing in
      if refusing.count < Self.maximumEndpoints { refusing.insert(endpoint) }
    }
  }
}
