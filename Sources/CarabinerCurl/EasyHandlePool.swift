internal import Carabiner

/// Handles that wait for the next request. Belongs to the loop's thread.
final class EasyHandlePool: @unchecked Sendable {
  // Used inside `EventLoop.execute` and libcurl's callbacks only, that is on the loop's thread.

  private let limit: Int
  private var idle: [EasyHandle] = []

  init(limit: Int) { self.limit = limit }

  func take(_ configuration: CurlTransport.Configuration) throws -> EasyHandle {
    try idle.popLast() ?? EasyHandle(configuration)
  }

  func giveBack(_ handle: EasyHandle) {
    if idle.count < limit { idle.append(handle) }
  }
}
