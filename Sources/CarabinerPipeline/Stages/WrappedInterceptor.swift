public import Carabiner
internal import Dispatch
internal import FoundationEssentials
internal import Synchronization

/// An interceptor of this generation in a chain of the core.
///
/// Only an interceptor that proceeds at most once for each request or result can be wrapped. One that fetches, that looks at `rawData`
/// before the parser, or that delivers a value and goes on needs a list of this generation.
public final class WrappedInterceptor: GraphQLInterceptor, @unchecked Sendable {
  // Immutable. The interceptor must be usable on any thread, as in a list that serves several requests.

  /// When the interceptor is called.
  public enum Position: Sendable, Hashable {
    /// Once for each attempt, without a response.
    case beforeNetwork
    /// Once for each result, with a parsed response.
    case afterParsing
  }

  private let interceptor: any ApolloInterceptor
  private let position: Position

  /// The interceptor at this position.
  public init(_ interceptor: any ApolloInterceptor, at position: Position) {
    self.interceptor = interceptor
    self.position = position
  }

  public var stageName: String { String(describing: type(of: interceptor)) }

  public func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    switch position {
    case .beforeNetwork:
      switch try await decision(of: request, nil) {
      case .proceeded(let headers, _):
        var request = request
        request.additionalHeaders = headers
        return await next(request)
      case .answered(let result): return PullStream(result)
      }
    case .afterParsing:
      return await next(request).map { result in
        switch try await self.decision(of: request, result) {
        case .proceeded(_, let changed): changed ?? result
        case .answered(let answer): answer
        }
      }
    }
  }

  /// Calls the interceptor, and waits for its first call of the chain.
  private func decision<Request: GraphQLRequest>(
    of request: Request, _ result: ParsedResult<Request.Operation>?
  ) async throws -> WrappedDecision<Request.Operation> {
    typealias Operation = Request.Operation
    let asked = JSONRequest(
      operation: request.operation, graphQLEndpoint: request.graphQLEndpoint, clientName: "", clientVersion: "",
      additionalHeaders: request.additionalHeaders.dictionary)
    let before = asked.additionalHeaders
    let response = try result.map { try HTTPResponse<Operation>($0, to: request) }
    let answer = WrappedAnswer<Operation>()
    let end = WrappedEnd<Operation> { proceeded, response in
      let headers = request.additionalHeaders.changed(from: before, to: proceeded.additionalHeaders)
      answer.give(Result { .proceeded(headers, try response.map { try ParsedResult($0) }) })
    }
    let chain = InterceptorRequestChain(interceptors: [interceptor, end], callbackQueue: .global())
    chain.maximumAttempts = 1
    let start = Transferred {
      chain.start(request: asked, response: response) { delivered in
        answer.give(delivered.flatMap { value in Result { .answered(ParsedResult(result: try value.response())) } })
      }
    }
    do {
      return try await withTaskCancellationHandler {
        try await answer.wait { start.value() }
      } onCancel: {
        chain.cancel()
        answer.give(.failure(CancellationError()))
      }
    } catch InterceptorRequestChain.ChainError.retryLimit {
      var retried = request
      retried.additionalHeaders = request.additionalHeaders.changed(from: before, to: asked.additionalHeaders)
      throw Carabiner.RequestChain<Request>.Retry(request: retried)
    }
  }
}

/// The first call that a wrapped interceptor makes.
enum WrappedDecision<Operation: GraphQLOperation>: Sendable {
  /// It proceeded, with these header fields, and with this result if there was one.
  case proceeded(HTTPHeaders, ParsedResult<Operation>?)
  /// It delivered a value.
  case answered(ParsedResult<Operation>)
}

/// Where the chain of the core waits for the first call of a wrapped interceptor. Later calls are ignored.
private final class WrappedAnswer<Operation: GraphQLOperation>: Sendable {
  typealias Decision = WrappedDecision<Operation>

  private struct State {
    var waiting: CheckedContinuation<Decision, any Error>?
    var decision: Result<Decision, any Error>?
  }

  private let state = Mutex(State())

  func wait(_ start: () -> Void) async throws -> Decision {
    try await withCheckedThrowingContinuation { continuation in
      let decided = state.withLock { state in
        if state.decision == nil { state.waiting = continuation }
        return state.decision
      }
      if let decided { continuation.resume(with: decided) } else { start() }
    }
  }

  func give(_ decision: Result<Decision, any Error>) {
    let waiting = state.withLock { state in
      if state.decision == nil { state.decision = decision }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: decision)
  }
}

/// The interceptor after a wrapped one.
private struct WrappedEnd<Wrapped: GraphQLOperation>: ApolloInterceptor {
  let reached: (HTTPRequest<Wrapped>, HTTPResponse<Wrapped>?) -> Void

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let request = request as? HTTPRequest<Wrapped> else { return }
    (chain as? ChainPlace)?.place.use("proceeded")
    reached(request, response as? HTTPResponse<Wrapped>)
  }
}
