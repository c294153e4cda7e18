internal import Carabiner
internal import FoundationEssentials

/// The state of the current attempt that the delegate's interceptors share.
struct DelegateAttempt: Carabiner.RequestContextKey, Sendable {
  typealias Value = DelegateAttempt

  /// The request as it was sent.
  let request: URLRequest
  /// The head of the response; nil if none arrived.
  var response: HTTPURLResponse?
  /// The body as far as it arrived.
  var body = Data()
  /// The error if the request could not be sent or its response could not be received.
  var error: (any Error)?

  /// The error that the retry delegate is asked about; nil if it is not asked.
  func failure(_ error: any Error) -> (any Error)? {
    if error is GraphQLHTTPResponseError || self.error != nil { return error }
    guard let response, let parsing = error as? ResponseParsingError, parsing.isOfBody else { return nil }
    return GraphQLHTTPResponseError(body: body, response: response, kind: .invalidResponse)
  }
}

extension ResponseParsingError {
  /// Whether the body itself cannot be parsed. Data of another type and errors of plugins are other faults.
  fileprivate var isOfBody: Bool { code != .dataMismatch && code != .other }
}

/// The last error that led to a retry, for the error of a request that was retried too often.
struct DelegateRetryReason: Carabiner.RequestContextKey, Sendable {
  typealias Value = DelegateRetryReason

  let text: String
}
