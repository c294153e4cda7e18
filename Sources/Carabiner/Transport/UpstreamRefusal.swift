/// A request was not sent, because its upstream cannot take it now.
package struct UpstreamRefusal: DescribedError, Sendable, Hashable {
  /// The reason.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// No endpoint is available.
    case noUpstream = "NO_UPSTREAM"
    /// The circuit breaker is open.
    case open = "UPSTREAM_OPEN"
    /// Too many requests are running or waiting.
    case overloaded = "UPSTREAM_OVERLOADED"
  }

  /// The reason.
  package let code: Code
  /// The name of the upstream in the manifest.
  package let upstream: String

  /// A refusal by an upstream.
  package init(_ code: Code, upstream: String) {
    self.code = code
    self.upstream = upstream
  }

  package var description: String {
    switch code {
    case .noUpstream:
      "no endpoint of the upstream \(upstream) is available; check its servers, or set panic above 0% [\(code.rawValue)]"
    case .open: "the circuit breaker of the upstream \(upstream) is open; check its servers [\(code.rawValue)]"
    case .overloaded:
      "too many requests to the upstream \(upstream) are under way or wait; check its servers, or raise limits: {requests, waiting} "
        + "[\(code.rawValue)]"
    }
  }
}
