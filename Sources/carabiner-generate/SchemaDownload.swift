internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// One exchange with a server, whose response has a limit.
///
/// This program must be built before each first build of a user, so it has none of the transports of the client.
final class SchemaDownload: NSObject, URLSessionDataDelegate {
  struct Failure: Error, CustomStringConvertible {
    let description: String
    /// Whether the server answered with a status that is not 200.
    let isStatus: Bool

    init(_ description: String) {
      self.description = description
      isStatus = false
    }

    init(status: Int) {
      description = "the server answered with HTTP status \(status)"
      isStatus = true
    }
  }

  /// The most bytes of a response.
  static let maximumBytes = 64 << 20

  private struct State {
    var body: [UInt8] = []
    var failure: Failure?
    var continuation: CheckedContinuation<Void, any Error>?
  }

  private let state = Mutex(State())

  /// Sends a request.
  ///
  /// - Returns: The status and the body.
  /// - Throws: `Failure`.
  static func response(to request: URLRequest) async throws -> (status: Int, body: [UInt8]) {
    let download = SchemaDownload()
    let session = URLSession(configuration: .ephemeral, delegate: download, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: request)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        download.state.withLock { $0.continuation = continuation }
        task.resume()
        // A handler that has run before could not end the exchange.
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      task.cancel()
    }
    guard let response = task.response as? HTTPURLResponse else { throw Failure("the server sent no HTTP response") }
    return (response.statusCode, download.state.withLock { $0.body })
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = state.withLock { state in
      guard state.body.count + data.count <= Self.maximumBytes else {
        state.failure = Failure("the response has more than \(Self.maximumBytes) bytes")
        return true
      }
      state.body += data
      return false
    }
    if isTooLong { dataTask.cancel() }
  }

  /// Another server must not get the headers, which may have secrets.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    var address = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
    // These may be secrets of the first address.
    address?.user = nil
    address?.password = nil
    let target = address?.string ?? "another address"
    state.withLock { $0.failure = Failure("the server redirects to \(target); fetch from there") }
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    state.withLock { state in
      let failure = state.failure ?? error.map { Failure($0.localizedDescription) }
      state.continuation?.resume(with: failure.map { .failure($0) } ?? .success(()))
      state.continuation = nil
    }
  }
}
