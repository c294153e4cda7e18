internal import Carabiner
internal import Synchronization

/// A transport that never responds and counts the waiting requests.
final class HeldTransport: HTTPTransport {
  private let waiting = Atomic(0)

  /// The number of waiting requests.
  var count: Int { waiting.load(ordering: .relaxed) }

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    waiting.add(1, ordering: .relaxed)
    try await Task.sleep(for: .seconds(3600))
    throw CancellationError()
  }
}
