package import CarabinerGateway
internal import Glibc
package import Logging

/// The limit of open files and sockets of the process.
package enum DescriptorLimit {
  /// The number of descriptors for everything but client connections: upstream connections, plugins, listening sockets.
  static let reserve = 512

  /// Raises the soft limit as far as possible. Its usual value of 1024 dates from `select`.
  ///
  /// - Returns: The resulting limit.
  static func raise(to wanted: Int) -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    let enough = rlim_t(clamping: wanted)
    if limit.rlim_cur < enough {
      limit.rlim_cur = min(enough, limit.rlim_max)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Reduces the maximum number of connections to the available descriptors: closing an accepted connection is better than
  /// failing to accept it.
  package static func fitting(_ limits: GatewayLimits, _ logger: Logger) -> GatewayLimits {
    var limits = limits
    let others = limits.maximumConcurrentOperations + reserve
    let available = raise(to: limits.maximumConnections + others)
    // If there are few descriptors, upstreams and clients get half each.
    let most = max(available - others, available / 2)
    guard most < limits.maximumConnections else { return limits }
    logger.notice(
      "the number of connections is limited by the system's descriptors; allow more with ulimit -n, or LimitNOFILE in a unit of systemd",
      metadata: ["connections": "\(most)", "wanted": "\(limits.maximumConnections)", "descriptors": "\(available)"])
    limits.maximumConnections = most
    return limits
  }
}
