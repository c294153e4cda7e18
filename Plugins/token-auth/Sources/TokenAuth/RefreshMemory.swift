internal import Synchronization

/// Which token each request was sent with, and whether it has had its one refresh.
final class RefreshMemory: Sendable {
  /// Requests that were cancelled are never forgotten by name; beyond this many the oldest go.
  private static let maximumRequests = 65_536

  private struct Entry {
    var generation: UInt64
    var wasRefreshed = false
  }

  private let requests = Mutex<[UInt64: Entry]>([:])

  func note(_ generation: UInt64, for request: UInt64) {
    requests.withLock { requests in
      if requests.count >= Self.maximumRequests, let oldest = requests.keys.min() { requests[oldest] = nil }
      requests[request, default: Entry(generation: generation)].generation = generation
    }
  }

  /// The token the request was sent with, if it may have a newer one; nil if it had its chance.
  func beginRefresh(for request: UInt64) -> UInt64? {
    requests.withLock { requests in
      guard let entry = requests[request], !entry.wasRefreshed else {
        requests[request] = nil
        return nil
      }
      requests[request]?.wasRefreshed = true
      return entry.generation
    }
  }

  func forget(_ request: UInt64) { requests.withLock { _ = $0.removeValue(forKey: request) } }
}
