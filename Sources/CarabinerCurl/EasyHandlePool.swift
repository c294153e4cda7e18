internal import Carabiner
internal import Glibc

/// The idle handles. Used only on the event loop's thread.
final class EasyHandlePool: @unchecked Sendable {
  // Used only inside `EventLoop.execute` and libcurl's callbacks, which run on the loop's thread.

  let configuration: CurlTransport.Configuration
  /// Whether ``HTTP1Engine`` sends the requests that it can send.
  let usesEngine: Bool
  private var idle: [EasyHandle] = []

  init(_ configuration: CurlTransport.Configuration) {
    var configuration = configuration
    // Otherwise libcurl would read the variables for every request.
    if configuration.proxy == .environment, !Self.environmentNamesProxy { configuration.proxy = .none }
    self.configuration = configuration
    // Requests to an HTTP proxy have another form.
    usesEngine = configuration.engine == .auto && configuration.proxy == .none
  }

  /// Whether the environment has one of libcurl's proxy variables.
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
