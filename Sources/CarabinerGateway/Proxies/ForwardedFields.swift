package import Carabiner

/// The fields about the client of a request, for an upstream.
package struct ForwardedFields: Sendable, Hashable {
  private static let protocolField = "X-Forwarded-Proto"
  private static let hostField = "X-Forwarded-Host"

  private let addresses: String
  private let scheme: String
  private let host: String?

  /// Makes the fields of a request. Values that a trusted proxy sent are extended; values of other clients are replaced.
  init(_ headers: HTTPHeaders, _ origin: RequestOrigin) {
    var addresses = origin.isPeerTrusted ? headers.values(for: ForwardedFor.field) : []
    addresses.append(origin.peer)
    self.addresses = addresses.joined(separator: ", ")
    let own = origin.isSecure ? "https" : "http"
    let given = origin.isPeerTrusted ? headers[Self.protocolField]?.lowercased() : nil
    scheme = given.flatMap { ["http", "https"].contains($0) ? $0 : nil } ?? own
    host = (origin.isPeerTrusted ? headers[Self.hostField] : nil) ?? headers["Host"]
  }

  /// Replaces the fields of a request to the upstream.
  package func set(in headers: inout HTTPHeaders) {
    headers[ForwardedFor.field] = addresses
    headers[Self.protocolField] = scheme
    headers[Self.hostField] = host
  }
}
