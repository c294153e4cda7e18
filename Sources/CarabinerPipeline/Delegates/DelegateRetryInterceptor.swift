public import Carabiner

/// Asks the delegate of a transport whether a request that failed is sent again.
///
/// It belongs at the end of the GraphQL interceptors, with a ``DelegatePreflightInterceptor`` at the end of the HTTP interceptors. A
/// retry starts the chain again with the request that reached this interceptor. Put it before an
/// `AutomaticPersistedQueryInterceptor`, which would otherwise see its own changes again.
public struct DelegateRetryInterceptor: GraphQLInterceptor {
  public var stageName: String { "delegate-retry" }

  private let transport: HTTPNetworkTransport
  /// The request of the caller, which retries start with; nil for the one that reached this interceptor.
  private let start: (any Sendable)?

  /// An interceptor for the delegate of `transport`, which the delegate's methods get.
  public init(_ transport: HTTPNetworkTransport) { self.init(transport, startingWith: nil) }

  init(_ transport: HTTPNetworkTransport, startingWith start: (any Sendable)?) {
    self.transport = transport
    self.start = start
  }

  public func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    request.context[DelegateAttempt.self] = nil
    let retry = Carabiner.RequestChain<Request>.Retry(request: start as? Request ?? request)
    let context = request.context
    return await next(request).map { result in
      guard let errors = result.result.errorsToAskAbout, try await shouldRetry(after: errors) else { return result }
      context[DelegateRetryReason.self] = DelegateRetryReason(text: "\(errors[0])")
      throw retry
    }.mapErrors { error in
      guard !Task.isCancelled else { throw CancellationError() }
      guard let attempt = context[DelegateAttempt.self], let failure = attempt.failure(error) else { throw error }
      switch try await action(after: failure, attempt) {
      case .fail(let error): throw error
      case .retry:
        context[DelegateRetryReason.self] = DelegateRetryReason(text: "\(failure)")
        throw retry
      }
    }
  }

  private func action(
    after error: any Error, _ attempt: DelegateAttempt
  ) async throws -> HTTPNetworkTransport.ContinueAction {
    guard let delegate = transport.delegate as? any HTTPNetworkTransportRetryDelegate else { return .fail(error) }
    return try await DelegateDecision.answer(unanswered: .fail(error)) { answer in
      delegate.networkTransport(
        transport, receivedError: error, for: attempt.request, response: attempt.response, continueHandler: answer)
    }
  }

  private func shouldRetry(after errors: [GraphQLError]) async throws -> Bool {
    guard let delegate = transport.delegate as? any HTTPNetworkTransportGraphQLErrorDelegate else { return false }
    return try await DelegateDecision.answer(unanswered: false) { answer in
      delegate.networkTransport(transport, receivedGraphQLErrors: errors, retryHandler: answer)
    }
  }
}

extension GraphQLResponse {
  /// The errors of the server; nil if there are none, or if they are the protocol of persisted queries.
  fileprivate var errorsToAskAbout: [GraphQLError]? {
    guard source == .server, hasErrors, let errors, !errors.isEmpty else { return nil }
    return PersistedQueryRefusal(errors) == nil ? errors : nil
  }
}
