internal import Carabiner
internal import Glibc

/// Handles that wait for the next request. Belongs to the loop's thread.
final class EasyHandlePool: @unchecked Sendable {
  // Used inside `EventLoop.execute` and libcurl's callbacks only, that is on the loop's thread.

  private let configuration: CurlTransport.Configuration
  private var idle: [EasyHandle] = []

  init(_ configuration: CurlTransport.Configuration) {
    var configuration = configuration
    // libcurl would look for the variables with every request.
    if configuration.proxy == .environment, !Self.environmentNamesProxy { configuration.proxy = .none }
    self.configuration = configuration
  }

  /// Whether the environment has a variable that libcurl takes a proxy from.
  private static var environmentNamesProxy: Bool {
    let names: [String] = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    return names.contains { unsafe getenv($0) != nil }
  }

  func take() throws -> EasyHandle {
    try idle.popLast() ?? EasyHandle(configuration)
  }

  func giveBack(_ handle: EasyHandle) {
    if idle.count < configuration.maximumIdleHandles { idle.append(handle) }
  }
}
