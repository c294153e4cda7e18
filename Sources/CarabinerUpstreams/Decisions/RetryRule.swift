internal import CarabinerManifest
internal import Glibc

/// Decides whether a request is sent again, and when.
struct RetryRule: Sendable {
  typealias Cause = Manifest.Upstream.Retry.Cause

  let settings: Manifest.Upstream.Retry

  /// The reason to send a request again; nil if it must not be.
  ///
  /// - Parameters:
  ///   - isRepeatable: Whether the request may run twice. It is false for a mutation.
  ///   - attempts: The attempts so far.
  func cause(of outcome: AttemptOutcome, isRepeatable: Bool, after attempts: Int) -> Cause? {
    guard attempts < settings.attempts else { return nil }
    let cause: Cause? =
      switch outcome {
      case .notConnected: .connect
      case .reset: isRepeatable ? .reset : nil
      case .attemptTimeout: isRepeatable ? .timeout : nil
      case .status(let status): isRepeatable ? Cause(rawValue: String(status)) : nil
      case .failed, .cancelled: nil
      }
    return cause.flatMap { settings.causes.contains($0) ? $0 : nil }
  }

  /// The delay before a retry; nil if there is no retry, because the server asked for more than the maximum delay.
  ///
  /// - Parameters:
  ///   - retry: The number of the retry, from 1.
  ///   - changesEndpoint: Whether the retry goes to an endpoint that this request has not tried.
  ///   - retryAfter: The header `Retry-After` of the response; nil if there is none.
  ///   - now: The seconds since 1970.
  func delay(
    before retry: Int, changesEndpoint: Bool, retryAfter: String?, at now: @autoclosure () -> Int = Glibc.time(nil),
    using numbers: inout some RandomNumberGenerator
  ) -> Duration? {
    let wanted = retryAfter.flatMap { Self.time(in: $0, at: now()) }
    if let wanted, wanted > settings.maximumDelay { return nil }
    if changesEndpoint { return .zero }
    if let wanted { return wanted }
    let longest = min(settings.maximumDelay, settings.baseDelay * (1 << min(max(retry - 1, 0), 16)))
    return longest * Double.random(in: 0...1, using: &numbers)
  }

  /// The time in a `Retry-After`; nil if it is malformed. A date that has passed means now.
  private static func time(in text: String, at now: Int) -> Duration? {
    if let seconds = Int32(text) { return .seconds(max(0, seconds)) }
    return HTTPDate.seconds(in: text).map { .seconds(max(0, $0 - now)) }
  }

  /// Whether one more retry fits the budget of an upstream.
  ///
  /// - Parameters:
  ///   - retries: The number of retries in progress.
  ///   - requests: The number of requests in progress, including those that are retried.
  func allows(retries: Int, requests: Int) -> Bool {
    retries < max(settings.minimumConcurrent, Int(settings.budget * Double(requests)))
  }
}
