internal import CarabinerBridge

extension WorkerRefusal {
  /// Calls in whose place a plugin can use `crb.fetch/1`.
  private static let callsOfFetch: Set<String> = [
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg",
  ]

  /// The error of a plugin that cannot be created in a worker because system calls were refused.
  static func error(of calls: [String], at path: String) -> HostError {
    let called = calls.map { "\($0)()" }.joined(separator: ", ")
    let remedy = calls.contains { callsOfFetch.contains($0) } ? "grant it fetch, or keep it in-process" : "keep it in-process"
    return HostError(
      .isolation, step: "create", path: path,
      "the plugin does not come up in a worker: it called \(called), which workers may not; \(remedy)")
  }
}
