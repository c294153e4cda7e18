internal import Carabiner

/// Decides whether a GET for an event stream is accepted without a header that only a preflight allows.
///
/// `EventSource` of browsers cannot set headers. A page of another site could open a subscription with the cookies of a visitor. Therefore
/// the browser must name an allowed origin, or report that the page is of the same origin.
enum EventSourceCheck {
  static func isAllowed(_ request: GatewayRequest, _ crossOrigin: CrossOriginRule?, _ own: OriginRule) -> Bool {
    let headers = request.head.headers
    let hasCredentials = headers.contains(name: "cookie") || headers.contains(name: "authorization")
    let origins = headers.values(for: "origin")
    guard let origin = origins.first else {
      let sites = headers.values(for: "sec-fetch-site")
      return sites.isEmpty ? !hasCredentials : sites.allSatisfy { $0 == "same-origin" || $0 == "none" }
    }
    guard origins.count == 1 else { return false }
    if own.allows(origin, host: headers["host"]) { return true }
    guard let crossOrigin, crossOrigin.allows(origin) else { return false }
    return crossOrigin.allowsCredentials || !hasCredentials
  }
}
