public import Carabiner
public import FoundationEssentials

/// The head of a response. The transport returns no other kind, so a cast to `HTTPURLResponse` always succeeds.
public typealias URLResponse = Carabiner.HTTPURLResponse

/// An object that a ``HTTPNetworkTransport`` asks about its requests.
///
/// The object conforms to one or more of the protocols below. The methods for one request are called one after the other, on threads of
/// the background. For several requests at once they are called at the same time.
public protocol HTTPNetworkTransportDelegate: AnyObject {}

/// Sees each request before it is sent.
public protocol HTTPNetworkTransportPreflightDelegate: HTTPNetworkTransportDelegate {
  /// Whether the request may be sent. If not, the call fails with ``GraphQLHTTPRequestError/cancelledByDelegate``.
  func networkTransport(_ networkTransport: HTTPNetworkTransport, shouldSend request: URLRequest) -> Bool

  /// Changes the request. It is sent as this method leaves it.
  func networkTransport(_ networkTransport: HTTPNetworkTransport, willSend request: inout URLRequest)
}

/// Sees what the server sent, before it is checked and parsed.
public protocol HTTPNetworkTransportTaskCompletedDelegate: HTTPNetworkTransportDelegate {
  /// A request ended.
  ///
  /// - Parameters:
  ///   - networkTransport: The transport.
  ///   - request: The request as it was sent.
  ///   - data: The body as far as it arrived, which may be empty; nil if no head arrived.
  ///   - response: The head, after redirects; nil if none arrived.
  ///   - error: The error if the request could not be sent or its response could not be received; otherwise nil.
  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, didCompleteRawTaskForRequest request: URLRequest, withData data: Data?,
    response: URLResponse?, error: (any Error)?)
}

/// Decides whether a request that failed is sent again.
///
/// It is asked about requests that could not be sent, about statuses other than 200 to 299, and about bodies that cannot be parsed.
public protocol HTTPNetworkTransportRetryDelegate: HTTPNetworkTransportDelegate {
  /// A request failed.
  ///
  /// - Parameters:
  ///   - networkTransport: The transport.
  ///   - error: The error.
  ///   - request: The request as it was sent.
  ///   - response: The head of the response; nil if none arrived.
  ///   - retryHandler: Takes the answer, at any time and on any thread. Only the first call counts. If it is released without a call, the
  ///     answer is false.
  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    retryHandler: @escaping (_ shouldRetry: Bool) -> Void)

  /// As the other method, with an answer that can name another error. The default implementation calls the other method.
  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    continueHandler: @escaping (_ action: HTTPNetworkTransport.ContinueAction) -> Void)
}

extension HTTPNetworkTransportRetryDelegate {
  public func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    continueHandler: @escaping (_ action: HTTPNetworkTransport.ContinueAction) -> Void
  ) {
    self.networkTransport(networkTransport, receivedError: error, for: request, response: response) { shouldRetry in
      continueHandler(shouldRetry ? .retry : .fail(error))
    }
  }
}

/// Decides whether a request is sent again whose response has GraphQL errors.
public protocol HTTPNetworkTransportGraphQLErrorDelegate: HTTPNetworkTransportDelegate {
  /// A response of the server has errors.
  ///
  /// - Parameters:
  ///   - networkTransport: The transport.
  ///   - errors: The errors; at least one.
  ///   - retryHandler: Takes the answer, as for ``HTTPNetworkTransportRetryDelegate``. If it is false, the response is delivered.
  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedGraphQLErrors errors: [GraphQLError],
    retryHandler: @escaping (_ shouldRetry: Bool) -> Void)
}
