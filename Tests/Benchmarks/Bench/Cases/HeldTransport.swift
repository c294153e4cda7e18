internal import Carabiner
internal import Synchronization

/// A transport that answers nobody; it says how many wait.
final class HeldTransport: HTTPTransport {
  private let waiting = Atomic(0)

  /// How many requests wait.
  var count: Int { waiting.load(ordering: .relaxed) }

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    waiting.add(1, ordering: .relaxed)
    try await Task.sleep(for: .seconds(3600))
    throw CancellationError()
  }
}
