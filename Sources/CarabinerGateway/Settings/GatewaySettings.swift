/// The settings of a gateway at one time. A reload replaces them for what begins later.
package final class GatewaySettings: Sendable {
  /// The paths at which operations are served.
  package let paths: [String]
  package let limits: GatewayLimits
  /// Limits the rate of each client; nil for no limit.
  let rateLimiter: RateLimiter?
  /// The page for browsers; nil if there is none.
  let page: QueryPage?

  /// - Parameter predecessor: The settings that these replace. Its counts of clients stay if the rate is the same.
  package init(
    paths: [String] = ["/graphql"], limits: GatewayLimits = GatewayLimits(), replacing predecessor: GatewaySettings? = nil
  ) {
    self.paths = paths
    self.limits = limits
    rateLimiter =
      if let rate = limits.rate { predecessor?.limits.rate == rate ? predecessor?.rateLimiter : RateLimiter(rate) } else { nil }
    page = limits.servesQueryPage ? predecessor?.page ?? QueryPage() : nil
  }

  /// The path of the gateway that a request names; nil if it is another one.
  func path(of request: GatewayRequest) -> String? {
    let asked = request.path
    return paths.first { $0 == asked }
  }
}
