/// Sends HTTP requests through interceptors to a transport, and again if one of them throws an ``HTTPRetry``.
///
/// It is the HTTP part of a chain, for calls that are not GraphQL.
package struct HTTPChain: HTTPChainParts {
  /// The default number of attempts of a request.
  package static let defaultMaximumAttempts = 10

  let httpInterceptors: [any HTTPInterceptor]
  private let transport: any HTTPTransport
  private let maximumAttempts: Int
  private let context: RequestContext
  private let observer: any ChainObserver

  var httpTransport: any HTTPTransport { transport }
  var takesParts: Bool { false }

  /// Creates the chain of one call.
  ///
  /// - Parameters:
  ///   - interceptors: The HTTP interceptors, outermost first.
  ///   - maximumAttempts: The limit of attempts. After that the call fails with ``RequestChainError/Code/retryLimit``.
  ///   - context: Counts the attempts and gets the head of the response. Its tracer gets the events of interceptors and transport.
  ///   - observer: Receives each retry.
  package init(
    interceptors: [any HTTPInterceptor], transport: any HTTPTransport,
    maximumAttempts: Int = Self.defaultMaximumAttempts, context: RequestContext = RequestContext(),
    observer: any ChainObserver = CacheFailureLog()
  ) {
    if let tracer = context.tracer {
      httpInterceptors = interceptors.traced(by: tracer)
      self.transport = TracedHTTPTransport(transport: transport, tracer: tracer)
    } else {
      httpInterceptors = interceptors
      self.transport = transport
    }
    self.maximumAttempts = maximumAttempts
    self.context = context
    self.observer = observer
  }

  /// Sends a request and returns its response when the head has arrived.
  ///
  /// An ``HTTPRetry`` of an interceptor that sees the body is thrown where the body is read. ``send(_:reading:)`` handles it.
  ///
  /// - Parameter make: Makes the request for each attempt.
  package func send(_ make: @Sendable () throws -> URLRequest) async throws -> HTTPResponse {
    try await send(make) { $0 }
  }

  /// Sends a request, and reads its response within the attempt.
  ///
  /// - Parameters:
  ///   - make: Makes the request for each attempt. It says in ``URLRequest/takesParts`` whether multipart bodies are read by part.
  ///   - read: Reads the response as far as a retry is possible, for example to its first message.
  package func send<Value>(
    _ make: @Sendable () throws -> URLRequest, reading read: (HTTPResponse) async throws -> Value
  ) async throws -> Value {
    while true {
      let request = try make()
      do {
        let response = try await passHTTP(request, from: 0)
        context.httpResponse = response.response
        return try await read(response)
      } catch let retry as HTTPRetry {
        try context.beginAttempt(
          of: "the request to \(PrintableURL(request.url).withoutQuery)", maximum: maximumAttempts, observer: observer)
        try await Task.sleep(for: retry.delay)
      }
    }
  }
}
