internal import Carabiner

/// Handles that wait for the next request. Belongs to the loop's thread.
final class EasyHandlePool: @unchecked Sendable {
  // Used inside `EventLoop.execute` and libcurl's callbacks only, that is on the loop's thread.

  private let configuration: CurlTransport.Configuration
  private var idle: [EasyHandle] = []

  init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

  func take() throws -> EasyHandle {
    try idle.popLast() ?? EasyHandle(configuration)
  }

  func giveBack(_ handle: EasyHandle) {
    if idle.count < configuration.maximumIdleHandles { idle.append(handle) }
  }
}
