package import CarabinerWire

/// The settings of a gateway at one time. A reload replaces them for connections and requests that begin later.
package final class GatewaySettings: Sendable {
  /// The paths at which operations are served.
  package let paths: [String]
  package let limits: GatewayLimits
  /// The networks of trusted proxies, which report the address of a client.
  package let trustedProxies: [IPNetwork]
  /// Whether the upstream gets fields about the client.
  package let sendsForwardedFields: Bool
  /// Whether the gateway is ready only while an endpoint of the main upstream is available.
  let isReadyWithUpstream: Bool
  /// Limits the rate of each client; nil for no limit.
  let rateLimiter: RateLimiter?
  /// The state that the gateways of a fleet share; nil without `serve.shared`.
  package let shared: SharedState?
  /// The rates that the gateways count together; nil without a rate.
  package var sharedRates: SharedRates? { shared?.rates }
  /// The page for browsers; nil if there is none.
  let page: QueryPage?

  /// - Parameter predecessor: The settings that these replace. If the rate is the same, its counts of clients are kept.
  package init(
    paths: [String] = ["/graphql"], limits: GatewayLimits = GatewayLimits(), trustedProxies: [IPNetwork] = [],
    sendsForwardedFields: Bool = false, isReadyWithUpstream: Bool = false, shared: SharedState? = nil,
    replacing predecessor: GatewaySettings? = nil
  ) {
    self.paths = paths
    self.limits = limits
    self.trustedProxies = trustedProxies
    self.sendsForwardedFields = sendsForwardedFields
    self.isReadyWithUpstream = isReadyWithUpstream
    self.shared = shared
    rateLimiter =
      if let rate = limits.rate { predecessor?.limits.rate == rate ? predecessor?.rateLimiter : RateLimiter(rate) } else { nil }
    page = limits.servesQueryPage ? predecessor?.page ?? QueryPage() : nil
  }

  /// The path of the gateway that a request names; nil if it is another one.
  func path(of request: GatewayRequest) -> String? { path(request.path) }

  /// The path of the endpoint with this text; nil if there is none.
  func path(_ asked: Substring) -> String? { paths.first { $0 == asked } }
}
