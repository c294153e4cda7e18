/// Which pages may have a browser connect.
///
/// A browser asks nobody before it opens a WebSocket to another site, and sends the cookies it has of it. So a page of another origin
/// is turned away unless it is listed. Programs send no origin, and are not what this guards against.
public struct OriginRule: Sendable, Hashable {
  private let allowed: Set<String>
  private let allowsAll: Bool

  /// A rule that allows these origins, as `https://example.org`, beside pages of the server's own host; `*` allows all.
  public init(_ allowed: [String]) {
    self.allowed = Set(allowed.map { Self.normal($0) })
    allowsAll = allowed.contains("*")
  }

  /// - Parameter host: What the client takes for the name of this server.
  func allows(_ origin: String?, host: String?) -> Bool {
    guard let origin, !allowsAll else { return true }
    let normal = Self.normal(origin)
    if allowed.contains(normal) { return true }
    // The scheme is not compared: TLS may end before this server.
    guard let host, let end = normal.firstRange(of: "://") else { return false }
    return Self.normal(normal[..<end.upperBound] + host) == normal
  }

  /// In lower case, without the port that goes without saying.
  private static func normal(_ origin: some StringProtocol) -> String {
    let lowered = origin.lowercased()
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where lowered.hasPrefix(scheme) && lowered.hasSuffix(port) {
      return String(lowered.dropLast(port.count))
    }
    return lowered
  }
}
