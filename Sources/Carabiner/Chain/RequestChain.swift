internal import CarabinerWire
internal import FoundationEssentials
internal import Synchronization

/// Passes one request down through its interceptors and its results back up.
///
/// A class, because the `next` function of each stage keeps it.
public final class RequestChain<Request: GraphQLRequest>: Sendable {
  /// Starts the chain again with this request. A GraphQL interceptor throws it, before or after results.
  public struct Retry: ControlFlowError {
    /// The request to start again with.
    public let request: Request

    /// A retry with `request`.
    public init(request: Request) { self.request = request }
  }

  let interceptors: RequestInterceptors
  let transportKind: TransportKind
  /// Whether the transport is HTTP. Stored, because reading ``transportKind`` copies the transport.
  private let isOverHTTP: Bool
  let store: ApolloStore
  let maximumAttempts: Int
  let observer: any ChainObserver
  /// Guards `lastSent`. A mutex with a generic value would look up the metadata of its type whenever a chain ends.
  private let sending = Mutex(())
  /// The request as it was last sent, with the changes of interceptors.
  @exclusivity(unchecked) private nonisolated(unsafe) var lastSent: Request
  // An optional request would cost a lookup of its metadata whenever a chain ends.
  @exclusivity(unchecked) private nonisolated(unsafe) var wasSent = false

  init(
    _ request: Request, interceptors: RequestInterceptors, transportKind: TransportKind, store: ApolloStore, maximumAttempts: Int,
    observer: any ChainObserver
  ) {
    unsafe lastSent = request
    self.interceptors = interceptors
    self.transportKind = transportKind
    isOverHTTP = if case .http = transportKind { true } else { false }
    self.store = store
    self.maximumAttempts = maximumAttempts
    self.observer = observer
  }

  // MARK: The journey

  // The short functions are inlined: an `async` call that never waits still costs some hundred instructions.

  /// One attempt: the GraphQL interceptors from `start` on, then cache and network. Returns the results on their way back.
  @inline(__always) func passGraphQL(_ request: Request, from start: Int) async -> InterceptorResultStream<Request> {
    var (request, passes) = (request, nil as (any StreamPass<ParsedResult<Request.Operation>>)?)
    var results: InterceptorResultStream<Request>
    switch descend(&request, from: start, &passes) {
    case .end: results = await fetch(request)
    case .stage(let index): results = await pass(request, through: interceptors.graphQL[index], at: index)
    case .unfinished(let begun, let index): results = await finish(begun, request, at: index)
    case .failed(let error): results = .failing(error)
    }
    while let pass = passes {
      results = results.passed(pass)
      passes = pass.outer
      if passes != nil { pass.outer = nil }
    }
    return results
  }

  /// How far a request got by synchronous calls.
  private enum Descent {
    case end
    case stage(Int)
    case unfinished(BegunPass<ParsedResult<Request.Operation>>, Int)
    case failed(any Error)
  }

  /// Takes a request inward as far as synchronous calls can.
  @inline(__always) private func descend(
    _ request: inout Request, from start: Int, _ passes: inout (any StreamPass<ParsedResult<Request.Operation>>)?
  ) -> Descent {
    for index in start..<interceptors.graphQL.count {
      let interceptor = interceptors.graphQL[index]
      if interceptor.isIdle(for: request) { continue }
      do {
        guard let begun = try interceptor.beginPass(&request) else { return .stage(index) }
        if begun.pass.isUnfinished { return .unfinished(begun, index) }
        if passes != nil { begun.pass.outer = passes }
        passes = begun.pass
      } catch {
        return .failed(error)
      }
    }
    return .end
  }

  @inline(never) private func finish(
    _ begun: BegunPass<ParsedResult<Request.Operation>>, _ request: Request, at index: Int
  ) async -> InterceptorResultStream<Request> {
    do {
      return try await interceptors.graphQL[index].finishPass(begun, request: request) { request in
        await self.passGraphQL(request, from: index + 1)
      }
    } catch {
      return .failing(error)
    }
  }

  @inline(__always) private func pass(
    _ request: Request, through interceptor: any GraphQLInterceptor, at index: Int
  ) async -> InterceptorResultStream<Request> {
    do {
      if interceptor.traits.contains(.bindsNoTaskLocals) {
        return try await interceptor.intercept(request: request) { request in
          await self.passGraphQL(request, from: index + 1)
        }
      }
      return try await interceptor.intercept(request: request) { request in
        await self.passGraphQL(request, from: index + 1).startedInThisScope()
      }
    } catch {
      return .failing(error)
    }
  }

  /// Reads the cache and uses the network according to the fetch behaviour of the request.
  @inline(__always) private func fetch(_ request: Request) async -> InterceptorResultStream<Request> {
    let behavior = request.fetchBehavior
    guard behavior.cacheRead == .beforeNetworkFetch, request.operation.isReadFromCache else {
      let network = await fetchFromNetwork(request)
      guard behavior.cacheRead == .onNetworkFailure, request.operation.isReadFromCache else { return network }
      return network.mapErrors { error in
        guard let cached = await self.readCacheReportingErrors(request) else { throw error }
        return cached
      }
    }
    switch behavior.networkFetch {
    case .never:
      do {
        return try await readCache(request).map { PullStream($0) } ?? .empty
      } catch {
        return .failing(error)
      }
    case .onCacheMiss:
      guard let cached = await readCacheReportingErrors(request) else { return await fetchFromNetwork(request) }
      if cached.result.pendingFragments.isEmpty { return PullStream(cached) }
      return request.context.hasCachedResult ? await fetchFromNetwork(request) : followedByNetwork(cached, request)
    case .always:
      // A retry does not return the cached result again.
      guard !request.context.hasCachedResult, let cached = await readCacheReportingErrors(request) else {
        return await fetchFromNetwork(request)
      }
      return followedByNetwork(cached, request)
    }
  }

  /// The cached result, and then the results of the server, with the deferred fragments that the cache lacks.
  private func followedByNetwork(
    _ cached: ParsedResult<Request.Operation>, _ request: Request
  ) -> InterceptorResultStream<Request> {
    var cached = cached
    let pending = cached.result.pendingFragments
    if !pending.isEmpty { cached.result.delivery = ResultDelivery(hasNext: true, pending: pending) }
    return PullStream(cached).followed { await self.fetchFromNetwork(request) }
  }

  /// The cached result. If the cache cannot be read, it is a miss, because the server may have the result.
  private func readCacheReportingErrors(_ request: Request) async -> ParsedResult<Request.Operation>? {
    try? await readCache(request)
  }

  /// The result in the cache.
  ///
  /// - Throws: The error of the cache; ``ResponseParsingError`` if the result does not fit the type of the operation.
  @inline(__always) private func readCache(_ request: Request) async throws -> ParsedResult<Request.Operation>? {
    do {
      let response = try await interceptors.cache.readCacheData(from: store, request: request)
      try response?.checkType()
      observer.cacheWasRead(isHit: response != nil)
      return response.map { ParsedResult(result: $0) }
    } catch {
      observer.cacheReadFailed(error, operationName: request.operation.operationName)
      observer.cacheWasRead(isHit: false)
      throw error
    }
  }

  @inline(__always) private func fetchFromNetwork(_ request: Request) async -> InterceptorResultStream<Request> {
    // Copying a request costs 2,000 instructions. The copy is needed only if results may be written.
    if keepsRecords(of: request) || !request.writeResultsToCache { remember(request) }
    if isOverHTTP { return await fetchOverHTTP(request) }
    return await fetchResults(request)
  }

  /// The request as it was sent in this attempt; nil if it was not sent.
  var sentRequest: Request? { sending.withLock { _ in unsafe wasSent ? lastSent : nil } }

  private func remember(_ request: Request) {
    sending.withLock { _ in
      unsafe lastSent = request
      unsafe wasSent = true
    }
  }

  private func forgetRequest() { sending.withLock { _ in unsafe wasSent = false } }

  /// Whether the cache stage needs the records of results from the server.
  private func keepsRecords(of request: Request) -> Bool {
    request.writeResultsToCache && !interceptors.cache.traits.contains(.keepsNothing)
  }

  /// The way without HTTP: the transport returns results.
  @inline(never) private func fetchResults(_ request: Request) async -> InterceptorResultStream<Request> {
    guard case .results(let transport) = transportKind else { return await fetchOverHTTP(request) }
    do {
      let includesRecords = keepsRecords(of: request)
      return try await transport.results(for: request).compactMap { response in
        ParsedResult<Request.Operation>(
          result: response, cacheRecords: includesRecords ? ApolloStore.records(of: response.body, to: request) : nil)
      }
    } catch {
      return .failing(error)
    }
  }

  /// The way over HTTP: HTTP interceptors, transport, parser. An ``HTTPRetry`` builds the HTTP request again.
  private func fetchOverHTTP(_ request: Request) async -> InterceptorResultStream<Request> {
    while true {
      do {
        let response = try await passHTTP(try urlRequest(of: request), from: 0)
        request.context.httpResponse = response.response
        if response.response.isSuccessful { request.context.subscription?.advance(to: .active) }
        let includesRecords = keepsRecords(of: request)
        return try await interceptors.parser.parse(response: response, for: request, includeCacheRecords: includesRecords)
          .started(rethrowing: HTTPRetry.self)
      } catch let retry as HTTPRetry {
        do {
          try beginAttempt(of: request)
          try await Task.sleep(for: retry.delay)
        } catch {
          return .failing(error)
        }
      } catch {
        return .failing(error)
      }
    }
  }

  /// The HTTP request, with the media types its parser reads unless the request says itself what it accepts.
  @inline(__always) private func urlRequest(of request: Request) throws -> URLRequest {
    guard let types = interceptors.parser.acceptedMediaTypes, request.additionalHeaders["Accept"] == nil else {
      return try request.toURLRequest().takingParts()
    }
    var made = try request.toURLRequest().takingParts()
    made.headers["Accept"] = types.added(to: made.headers["Accept"])
    return made
  }

  // MARK: Attempts

  /// Counts a retry of the operation or of the HTTP request.
  func beginAttempt(of request: Request) throws {
    forgetRequest()
    try request.context.beginAttempt(of: request.operation.displayName, maximum: maximumAttempts, observer: observer)
  }
}

extension RequestChain: HTTPChainParts {
  var httpInterceptors: [any HTTPInterceptor] { interceptors.http }

  var httpTransport: any HTTPTransport {
    get throws {
      guard case .http(let transport) = transportKind else {
        throw RequestChainError(
          .invalidRequest, "this chain has no HTTP transport; send operations through its result transport")
      }
      return transport
    }
  }

  /// The parser limits the parts.
  var takesParts: Bool { true }
}

extension GraphQLOperation {
  /// Results of mutations are written to the cache but never read from it.
  var isReadFromCache: Bool { operationType != .mutation }
}
