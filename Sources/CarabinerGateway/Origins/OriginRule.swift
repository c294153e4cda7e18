internal import CarabinerWire

/// The origins of pages that may open a WebSocket.
///
/// Browsers open WebSockets to other sites without a CORS check, and send the cookies of those sites. So a page of another origin
/// is rejected unless it is listed. Other programs send no Origin field and are always allowed.
public struct OriginRule: Sendable, Hashable {
  /// The origins as they were given.
  package let origins: [String]
  private let allowed: Set<String>
  private let allowsAll: Bool

  /// Allows these origins, such as `https://example.org`, in addition to pages of the server's own host. `*` allows all.
  public init(_ allowed: [String]) {
    origins = allowed
    self.allowed = Set(allowed.map { OriginPattern.normal($0) })
    allowsAll = allowed.contains("*")
  }

  /// - Parameter host: The Host field of the request.
  func allows(_ origin: String?, host: String?) -> Bool {
    guard let origin, !allowsAll else { return true }
    let normal = OriginPattern.normal(origin)
    if allowed.contains(normal) { return true }
    // The scheme is not compared, because TLS may be terminated in front of this server.
    guard let host, let end = normal.firstRange(of: "://") else { return false }
    return OriginPattern.normal(normal[..<end.upperBound] + host) == normal
  }
}
