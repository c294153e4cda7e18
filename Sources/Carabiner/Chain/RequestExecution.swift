internal import FoundationEssentials
internal import Synchronization

/// Runs a request to its end: attempts and retries, the cache write, the last look at an error.
final class RequestExecution<Request: GraphQLRequest>: Sendable {
  typealias Step = PullStream<GraphQLResponse<Request.Operation>>.Step

  private struct Attempt {
    let request: Request
    let deadline: Deadline?
    var results: InterceptorResultStream<Request>?

    init(_ request: Request) {
      self.request = request
      // A subscription lives as long as its caller wants.
      deadline =
        request.operation.operationType == .subscription
        ? nil : request.requestTimeout.map { Deadline(seconds: $0) }
    }
  }

  private struct State {
    var attempt: Attempt
    var delivered = 0
  }

  private let chain: RequestChain<Request>
  private let state: Mutex<State>

  init(chain: RequestChain<Request>, request: Request) {
    self.chain = chain
    state = Mutex(State(attempt: Attempt(request)))
  }

  /// The next response for the caller.
  func next() async throws -> Step {
    do {
      while true {
        try Task.checkCancellation()
        do {
          return try await nextOfAttempt()
        } catch let retry as RequestChain<Request>.Retry {
          try chain.beginAttempt(of: retry.request)
          state.withLock { $0.attempt = Attempt(retry.request) }
        }
      }
    } catch {
      if Task.isCancelled { throw CancellationError() }
      guard let last = chain.interceptors.additionalError else { throw error }
      throw await last.intercept(error: error, request: state.withLock { $0.attempt.request })
    }
  }

  private func nextOfAttempt() async throws -> Step {
    let attempt = state.withLock { $0.attempt }
    guard let deadline = attempt.deadline else { return try await advance(attempt) }
    return try await deadline.bounding(attempt.request.operation.displayName) { try await self.advance(attempt) }
  }

  private func advance(_ attempt: Attempt) async throws -> Step {
    let results: InterceptorResultStream<Request>
    if let started = attempt.results {
      results = started
    } else {
      results = await chain.travel(attempt.request)
      state.withLock { $0.attempt.results = results }
    }
    switch try await results.pull() {
    case .element(let result): return .element(await deliver(result, of: attempt.request))
    case .last(let result): return .last(await deliver(result, of: attempt.request))
    case .end:
      guard state.withLock({ $0.delivered }) == 0 else { return .end }
      throw noResults(attempt.request)
    }
  }

  /// Writes a result of the server to the cache and hands it to the caller.
  private func deliver(
    _ result: ParsedResult<Request.Operation>, of request: Request
  ) async -> GraphQLResponse<Request.Operation> {
    state.withLock { $0.delivered += 1 }
    guard result.result.source == .server, request.writeResultsToCache, request.operation.isCacheable,
      result.cacheRecords?.isEmpty == false
    else { return result.result }
    let cache = chain.interceptors.cache
    let span = StageSpan(
      tracer: cache.traits.contains(.tracesItself) ? nil : request.context.tracer, kind: .cache, stage: cache.stageName)
    do {
      try await cache.writeCacheData(to: chain.store, request: request, response: result)
      span.finish("write", .up, "written")
    } catch {
      span.finish("write", .up, "failed: \(error)")
      chain.observer.cacheWriteFailed(error, operationName: request.operation.operationName)
    }
    return result.result
  }

  private func noResults(_ request: Request) -> RequestChainError {
    let step =
      switch request.fetchBehavior.networkFetch {
      case .never: "the cache had nothing"
      case .always, .onCacheMiss:
        request.context.httpResponse.map {
          "the response with status \($0.statusCode) held no result, or an interceptor dropped it"
        }
          ?? "an interceptor ended the stream before the network was asked"
      }
    return RequestChainError(
      .noResults, "\(request.operation.displayName) brought no result: \(step); trace the request to see where it ended")
  }
}
