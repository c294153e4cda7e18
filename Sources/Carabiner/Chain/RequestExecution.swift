internal import FoundationEssentials
internal import Synchronization

/// Runs a request to its end: attempts and retries, the cache write, the interceptor for errors.
final class RequestExecution<Request: GraphQLRequest>: @unchecked Sendable {
  // `isPulling` admits one consumer at a time. Only that consumer uses the other properties, so the runtime need not check each access.

  typealias Step = PullStream<GraphQLResponse<Request.Operation>>.Step

  private let chain: RequestChain<Request>
  // The current attempt. It is not a struct of its own, because generic metadata would be looked up for each request.
  @safe @exclusivity(unchecked) private var request: Request
  /// The deadline, in an array of one element: an optional deadline would cost look-ups of its type in every request.
  @safe @exclusivity(unchecked) private var deadline: [Deadline]
  @safe @exclusivity(unchecked) private var results: InterceptorResultStream<Request>?
  @safe @exclusivity(unchecked) private var delivered = 0
  private let isPulling = Atomic<Bool>(false)

  init(chain: RequestChain<Request>, request: Request) {
    self.chain = chain
    self.request = request
    deadline = Self.deadline(of: request)
  }

  /// The deadline of an attempt. A subscription has none.
  private static func deadline(of request: Request) -> [Deadline] {
    guard let timeout = request.requestTimeout, request.operation.operationType != .subscription else { return [] }
    return [Deadline(seconds: timeout)]
  }

  /// The next response for the caller.
  func next() async throws -> Step {
    guard !isPulling.exchange(true, ordering: .acquiring) else {
      throw RequestChainError(
        .concurrentUse,
        "two tasks read the results of \(request.operation.displayName) at the same time; read the stream in one task")
    }
    defer { isPulling.store(false, ordering: .releasing) }
    do {
      while true {
        try Task.checkCancellation()
        do {
          return deadline.isEmpty ? try await advance() : try await advanceInTime()
        } catch let retry as RequestChain<Request>.Retry {
          try restart(with: retry.request)
        }
      }
    } catch {
      throw await lastError(error)
    }
  }

  // The frame of an `async` function has room for the variables of all its paths. Rare paths are therefore in functions of their
  // own.

  @inline(never) private func advanceInTime() async throws -> Step {
    guard let deadline = deadline.first else { return try await advance() }
    return try await deadline.bounding(RequestChainError.timedOut(request.operation.displayName, after: deadline.duration)) {
      try await self.advance()
    }
  }

  @inline(never) private func restart(with request: Request) throws {
    try chain.beginAttempt(of: request)
    (self.request, deadline, results) = (request, Self.deadline(of: request), nil)
    request.context.subscription?.advance(to: .reconnecting)
  }

  /// The error that the caller gets.
  @inline(never) private func lastError(_ error: any Error) async -> any Error {
    if Task.isCancelled { return CancellationError() }
    guard let last = chain.interceptors.additionalError else { return error }
    return await last.intercept(error: error, request: request)
  }

  @inline(__always) private func advance() async throws -> Step {
    let request = request
    let started: InterceptorResultStream<Request>
    if let results {
      started = results
    } else {
      started = await chain.passGraphQL(request, from: 0)
      results = started
    }
    switch try await started.pull() {
    case .element(let result):
      if isToBeWritten(result) { await write(result) }
      return .element(result.result)
    case .last(let result):
      if isToBeWritten(result) { await write(result) }
      return .last(result.result)
    case .end:
      // A subscription may end without a result.
      guard delivered == 0, !isSubscriptionToServer(request) else { return .end }
      throw noResults(request)
    }
  }

  /// Counts a result for the caller, and decides whether it is written to the cache.
  private func isToBeWritten(_ result: ParsedResult<Request.Operation>) -> Bool {
    delivered += 1
    if result.result.source == .cache { request.context.hasCachedResult = true }
    return result.result.source == .server && result.cacheRecords?.isEmpty == false
  }

  /// Writes a result of the server to the cache.
  @inline(never) private func write(_ result: ParsedResult<Request.Operation>) async {
    // The settings of the request that reached the network count.
    let request = chain.sentRequest ?? request
    guard request.writeResultsToCache else { return }
    do {
      try await chain.interceptors.cache.writeCacheData(to: chain.store, request: request, response: result)
    } catch {
      chain.observer.cacheWriteFailed(error, operationName: request.operation.operationName)
    }
  }

  private func isSubscriptionToServer(_ request: Request) -> Bool {
    guard request.operation.operationType == .subscription else { return false }
    if case .never = request.fetchBehavior.networkFetch { return false }
    return true
  }

  private func noResults(_ request: Request) -> RequestChainError {
    let step =
      switch (request.fetchBehavior.networkFetch, chain.transportKind) {
      case (.never, _): "the cache does not have it"
      case (_, .http):
        request.context.httpResponse.map {
          "the response with status \($0.statusCode) has no result, or an interceptor dropped it"
        } ?? "an interceptor ended the stream before the request was sent"
      case (_, .results): "the server ended it without a result, or an interceptor dropped the result or did not send the request"
      }
    return RequestChainError(
      .noResults, "\(request.operation.displayName) has no result: \(step); trace the request to see where it ended")
  }
}
