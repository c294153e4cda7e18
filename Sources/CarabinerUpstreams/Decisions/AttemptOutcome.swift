internal import Carabiner

/// The outcome of one attempt to send a request to an endpoint.
enum AttemptOutcome: Sendable, Hashable {
  /// The request was not sent.
  case notConnected
  /// The connection ended before the first byte of the response.
  case reset
  /// The attempt exceeded its own timeout before the response began.
  case attemptTimeout
  /// The head of a response arrived.
  case status(Int)
  /// The attempt failed for another reason.
  case failed
  /// The caller no longer needs the response.
  case cancelled

  /// - Parameter error: The error of a transport.
  init(_ error: any Error) {
    switch error {
    case is CancellationError: self = .cancelled
    case is AttemptTimeout: self = .attemptTimeout
    case let error as TransportError: self.init(error)
    default: self = .failed
    }
  }

  private init(_ error: TransportError) {
    switch error.code {
    case .unsupportedURL, .invalidMethod, .invalidHeader, .fileUnreadable, .fileChanged, .bodyNotRepeatable, .redirectRefused:
      self = .failed
    case .nameNotResolved, .cannotConnect, .proxyFailed, .tls, .timedOut, .connectionLost, .other, .invalidResponse,
      .headTooLarge,
      .bodyTooLarge:
      if !error.mayHaveBeenSent, !error.responseBegan {
        self = .notConnected
      } else if error.code == .connectionLost, !error.responseBegan {
        self = .reset
      } else {
        self = .failed
      }
    }
  }

  /// Whether the attempt counts as a failure of its endpoint; nil if it does not show whether the endpoint works.
  ///
  /// A status of 500 is not a failure: one faulty resolver must not remove a server.
  var isFailure: Bool? {
    switch self {
    case .notConnected, .reset, .attemptTimeout, .status(502), .status(503), .status(504): true
    case .status: false
    case .failed, .cancelled: nil
    }
  }

  /// The word for metrics.
  var word: String {
    switch self {
    case .notConnected: "connect"
    case .reset: "reset"
    case .attemptTimeout: "timeout"
    case .status(let status) where (100..<600).contains(status): "\(status / 100)xx"
    case .status, .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// All words of ``word``.
  static let words = ["1xx", "2xx", "3xx", "4xx", "5xx", "connect", "reset", "timeout", "failed", "cancelled"]
}

/// An attempt exceeded `per-attempt-timeout`.
struct AttemptTimeout: Error {}
