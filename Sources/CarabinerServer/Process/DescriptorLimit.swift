package import CarabinerGateway
internal import Glibc
package import Logging

/// How many files and sockets the process may have open.
package enum DescriptorLimit {
  /// What a gateway needs beside its clients' connections: those to upstreams, plugins, sockets to listen on.
  static let reserve = 512

  /// Lifts the limit as far as it takes; the usual one of 1024 is from when `select` was all there was.
  ///
  /// - Returns: The limit now.
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

  /// Limits the system has descriptors for: a connection that is accepted and closed is better than one that cannot be accepted.
  package static func fitting(_ limits: GatewayLimits, _ logger: Logger) -> GatewayLimits {
    var limits = limits
    let others = limits.maximumConcurrentOperations + reserve
    let available = raise(to: limits.maximumConnections + others)
    // Where descriptors are few, upstreams and clients share them.
    let most = max(available - others, available / 2)
    guard most < limits.maximumConnections else { return limits }
    logger.notice(
      "as many connections as the system has descriptors for are taken; allow more with ulimit -n, or LimitNOFILE in a unit of systemd",
      metadata: ["connections": "\(most)", "wanted": "\(limits.maximumConnections)", "descriptors": "\(available)"])
    limits.maximumConnections = most
    return limits
  }
}
