package import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import FoundationEssentials
internal import Synchronization

/// Retries failed requests if there is only one endpoint, with the default rules of an upstream.
///
/// A request that does not fail costs nothing here: it is not counted, and no clock is read.
package final class EndpointRecovery: Sendable {
  private let rule = RetryRule(settings: Manifest.Upstream.Retry())
  private let transport: CurlTransport
  private let counters: UpstreamCounters
  private let retries = Atomic<Int>(0)

  init(transport: CurlTransport, counters: UpstreamCounters) {
    self.transport = transport
    self.counters = counters
  }

  /// Whether the request may be retried because of this response.
  package static func concerns(_ response: HTTPResponse) -> Bool { (502...504).contains(response.response.statusCode) }

  /// Sends a request again if that is allowed.
  ///
  /// - Parameters:
  ///   - first: The end of the first attempt.
  ///   - sender: The transport of the attempts.
  /// - Returns: The response of the last attempt.
  package func recovered(
    _ request: URLRequest, from first: Result<HTTPResponse, any Error>, over sender: any HTTPTransport
  ) async throws -> HTTPResponse {
    var result = AttemptResult(response: first)
    var attempts = 1
    while request.isRepeatableBody, !Task.isCancelled,
      let cause = rule.cause(of: result.outcome, isRepeatable: request.isIdempotent, after: attempts)
    {
      // Counted before the check, so that two requests cannot both use the last permitted retry.
      let underWay = retries.add(1, ordering: .relaxed).oldValue
      defer { retries.subtract(1, ordering: .relaxed) }
      guard rule.allows(retries: underWay, requests: transport.metrics.runningRequests + 1) else {
        counters.denied(cause)
        break
      }
      var numbers = SystemRandomNumberGenerator()
      guard
        let delay = rule.delay(before: attempts, changesEndpoint: false, retryAfter: result.retryAfter, using: &numbers),
        (try? await Task.sleep(for: delay)) != nil
      else { break }
      counters.sent(cause)
      attempts += 1
      do {
        result = AttemptResult(response: .success(try await sender.send(request)))
      } catch {
        result = AttemptResult(response: .failure(error))
      }
      if result.outcome.isFailure == false { counters.succeeded(cause) }
    }
    return try result.response.get()
  }
}
