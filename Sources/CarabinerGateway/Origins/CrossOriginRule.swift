internal import Carabiner
package import CarabinerWire
internal import NIOHTTP1

/// The origins whose pages may read responses, and the fields that browsers need for it (CORS).
package struct CrossOriginRule: Sendable {
  private let exact: Set<String>
  private let patterns: [OriginPattern]
  private let allowsAll: Bool
  /// Whether all origins are allowed and no other entry is listed. Responses then do not depend on the origin.
  private let isUniversal: Bool
  private let allowedHeaders: String?
  private let exposedHeaders: String?
  private let maximumAge: String
  /// Whether browsers may send cookies and other credentials.
  let allowsCredentials: Bool

  private static let methods = "GET, HEAD, POST"

  /// - Parameters:
  ///   - headers: The request headers that pages may set; nil for those that a preflight asks for.
  ///   - exposed: The response headers that pages may read.
  ///   - maximumAge: How long a browser may keep the response to a preflight.
  package init(
    origins: [OriginPattern], headers: [String]?, exposed: [String], allowsCredentials: Bool, maximumAge: Duration
  ) {
    exact = Set(origins.compactMap { if case .exact(let origin) = $0 { origin } else { nil } })
    patterns = origins.filter { if case .subdomains = $0 { true } else { false } }
    allowsAll = origins.contains(.any)
    isUniversal = origins == [.any]
    allowedHeaders = headers.map { $0.joined(separator: ", ") }
    exposedHeaders = exposed.isEmpty ? nil : exposed.joined(separator: ", ")
    self.maximumAge = String(maximumAge.components.seconds)
    self.allowsCredentials = allowsCredentials
  }

  /// Whether pages of an origin may read responses.
  func allows(_ origin: String) -> Bool {
    if allowsAll { return true }
    let normal = OriginPattern.normal(origin)
    return exact.contains(normal) || patterns.contains { $0.matches(normal) }
  }

  /// Whether a request is a CORS preflight.
  static func isPreflight(_ head: RequestHead) -> Bool {
    head.method == .OPTIONS && head.headers.contains(name: "origin")
      && head.headers.contains(name: "access-control-request-method")
  }

  /// The origin of a request; nil if it is not allowed, or if there is not exactly one Origin field.
  private func origin(of headers: Carabiner.HTTPHeaders) -> String? {
    let origins = headers.values(for: "origin")
    return origins.count == 1 && allows(origins[0]) ? origins[0] : nil
  }

  /// The fields of the response to a preflight.
  ///
  /// - Throws: A refusal with the status 403 if the origin is not allowed.
  func preflight(_ head: RequestHead) throws(RequestRefusal) -> [(name: String, value: String)] {
    guard origin(of: head.headers) != nil else {
      let origin = head.headers.values(for: "origin").joined(separator: ", ").prefix(200)
      throw RequestRefusal(
        403, "pages of the origin \(origin) may not send requests; add the origin to serve: {cors: {origins: […]}}",
        code: "ORIGIN_REFUSED")
    }
    var fields = [("Access-Control-Allow-Methods", Self.methods), ("Access-Control-Max-Age", maximumAge)]
    if let allowedHeaders {
      if !allowedHeaders.isEmpty { fields.append(("Access-Control-Allow-Headers", allowedHeaders)) }
    } else {
      let asked = head.headers.elements(of: "access-control-request-headers").filter { $0.utf8Span.span.isToken }
      if !asked.isEmpty { fields.append(("Access-Control-Allow-Headers", asked.joined(separator: ", "))) }
      fields.append(("Vary", "Access-Control-Request-Headers"))
    }
    return fields
  }

  /// Calls `add` with the fields of a response to a request with these headers.
  func fields(for headers: Carabiner.HTTPHeaders, _ add: (_ name: String, _ value: String) -> Void) {
    if !isUniversal { add("Vary", "Origin") }
    guard let origin = origin(of: headers) else { return }
    add("Access-Control-Allow-Origin", isUniversal ? "*" : origin)
    if allowsCredentials { add("Access-Control-Allow-Credentials", "true") }
    if let exposedHeaders { add("Access-Control-Expose-Headers", exposedHeaders) }
  }
}
