/// The parts of a chain that an HTTP request passes: interceptors and transport.
///
/// A ``RequestChain`` and an ``HTTPChain`` share the way through them. This is a protocol and not a value in the chain, because a value
/// would be copied for each interceptor that calls `next`.
protocol HTTPChainParts: Sendable {
  /// The HTTP interceptors, outermost first.
  var httpInterceptors: [any HTTPInterceptor] { get }
  /// The transport after the last interceptor.
  ///
  /// - Throws: ``RequestChainError`` if there is none.
  var httpTransport: any HTTPTransport { get throws }
  /// Whether the caller reads a multipart body part by part, whatever the request says.
  var takesParts: Bool { get }
}

extension HTTPChainParts {
  /// The HTTP interceptors from `start` on, then the transport.
  ///
  /// Interceptors that see only heads are skipped on the way down and called on the way up.
  func passHTTP(_ request: URLRequest, from start: Int) async throws -> HTTPResponse {
    let interceptors = httpInterceptors
    var index = start
    while index < interceptors.count, interceptors[index].traits.contains(.seesOnlyHeads) { index += 1 }
    var response = index < interceptors.count ? try await intercept(request, at: index) : try await transmit(request)
    while index > start {
      index -= 1
      guard !interceptors[index].passes(response.response) else { continue }
      let refused = response
      response = try await interceptors[index].intercept(request: request) { _ in refused }
    }
    return response
  }

  private func intercept(_ request: URLRequest, at index: Int) async throws -> HTTPResponse {
    try await httpInterceptors[index].intercept(request: request) { request in
      try await self.passHTTP(request, from: index + 1)
    }
  }

  @inline(__always) private func transmit(_ request: URLRequest) async throws -> HTTPResponse {
    let transport = try httpTransport
    return try await transport.send(takesParts && !request.takesParts ? request.takingParts() : request)
  }
}

extension RequestContext {
  /// Counts a retry of an operation or of an HTTP request.
  ///
  /// - Parameter subject: The operation or request, for the error.
  /// - Throws: ``RequestChainError`` with the code `retryLimit`.
  func beginAttempt(of subject: @autoclosure () -> String, maximum: Int, observer: any ChainObserver) throws {
    let attempts = beginAttempt()
    guard attempts < maximum else {
      throw RequestChainError(
        .retryLimit,
        "\(subject()) was started \(attempts) times without success; check which interceptor requests the retries, or raise "
          + "maximumAttempts of the transport")
    }
    observer.operationIsRetried()
  }
}
