@_spi(InterceptorHints) public import Carabiner
internal import FoundationEssentials

/// Runs the GraphQL interceptors of the core, for example the plugins of a manifest, around a part of a list.
///
/// They see the request before the part, and each result after it, in reverse order. The HTTP interceptors of the same provider run in the
/// ``NetworkFetchInterceptor`` of the part. A provider with an own cache step or
/// parser is refused: this generation has interceptors for both.
public final class StagesInterceptor: ApolloInterceptor, Cancellable, CustomStringConvertible {
  private let stages: any Carabiner.InterceptorProvider
  private let part: [any ApolloInterceptor]

  /// The interceptors of `stages` around `part`.
  public init(_ stages: any Carabiner.InterceptorProvider, around part: [any ApolloInterceptor]) {
    self.stages = stages
    self.part = part
  }

  /// The interceptors of the part, in order.
  public var description: String {
    "stages around [\(part.map { String(describing: type(of: $0)) }.joined(separator: ", "))]"
  }

  /// Cancels the interceptors of the part that can be cancelled.
  public func cancel() {
    for interceptor in part { (interceptor as? any Cancellable)?.cancel() }
  }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let chain = chain as? ChainPlace else {
      return chain.handleErrorAsync(PipelineError.foreignChain, request: request, response: response, completion: completion)
    }
    let tracer = chain.engine.tracer
    let made: StageSet
    do {
      made = try chain.engine.memory.stages(tracer: tracer) { context in
        var interceptors = try stages.interceptors(for: request.operation, context: context)
        try interceptors.checkPlaces()
        if let tracer { interceptors.graphQL = interceptors.graphQL.traced(by: tracer) }
        return interceptors
      }
    } catch {
      return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    let call = Transferred(StagesCall(chain: chain, part: part, stages: made, request: request, completion: completion))
    let task = Task(executorPreference: QueueExecutor.background) { await call.value.run() }
    chain.place.pass.atEnd { task.cancel() }
  }
}

extension RequestInterceptors {
  /// Checks that there is no stage that would silently not run.
  fileprivate func checkPlaces() throws(PipelineError) {
    if !(cache is DefaultCacheInterceptor), !cache.traits.contains(.keepsNothing) {
      throw .unusedStage(kind: "cache", name: cache.stageName)
    }
    if !(parser is Carabiner.JSONResponseParsingInterceptor) {
      throw .unusedStage(kind: "parsing", name: parser.stageName)
    }
  }
}

/// One pass of a request through the interceptors of the core and a part of a list.
private final class StagesCall<Operation: GraphQLOperation> {
  typealias CoreRequest = Carabiner.JSONRequest<Operation>

  private let chain: ChainPlace
  private let part: [any ApolloInterceptor]
  private let stages: StageSet
  private let request: HTTPRequest<Operation>
  private let completion: Travel<Operation>.Completion

  init(
    chain: ChainPlace, part: [any ApolloInterceptor], stages: StageSet, request: HTTPRequest<Operation>,
    completion: @escaping Travel<Operation>.Completion
  ) {
    self.chain = chain
    self.part = part
    self.stages = stages
    self.request = request
    self.completion = completion
  }

  func run() async {
    var core = CoreRequest(
      operation: request.operation, endpoint: request.graphQLEndpoint,
      additionalHeaders: HTTPHeaders(
        request.additionalHeaders.sorted { $0.key < $1.key }.map { HTTPHeaders.Field(name: $0.key, value: $0.value) }),
      context: stages.context)
    core.wireOverrides = request.wireOverrides
    let record = PartRecord<Operation>()
    let way = CoreWay(interceptors: stages.interceptors.graphQL, end: start(record))
    do {
      var isEmpty = true
      for try await result in await way.pass(core, from: 0) {
        isEmpty = false
        try deliver(result, record.latest)
      }
      if isEmpty, !record.isAnswered, request.operation.operationType != .subscription {
        throw RequestChainError(
          .noResults, "the interceptors of the core dropped the result of \(request.operation.operationName ?? "the operation")")
      }
      chain.place.use("ended")
    } catch let retry as Carabiner.RequestChain<CoreRequest>.Retry {
      request.take(retry.request)
      chain.retry(request: request, completion: completion)
    } catch is CancellationError {
      // A retry or a cancellation has ended the pass.
    } catch {
      chain.handleErrorAsync(error, request: request, response: record.latest?.response, completion: completion)
    }
  }

  /// The step after the last interceptor of the core: the part of the list.
  private func start(_ record: PartRecord<Operation>) -> @Sendable (CoreRequest) -> InterceptorResultStream<CoreRequest> {
    let call = Transferred(self)
    return { core in
      call.value.request.take(core)
      let results = PartResults(record)
      let list = InterceptorList(call.value.part, end: results)
      call.value.chain.engine.enter(
        0, of: list, call.value.chain.place.pass, Travel(call.value.request, nil, call.value.completion, nil))
      return PullStream { try await results.next() }
    }
  }

  /// Proceeds with a result that has passed the interceptors of the core.
  private func deliver(_ result: ParsedResult<Operation>, _ latest: Travel<Operation>?) throws {
    let head = result.result.httpResponse ?? latest?.response?.httpResponse
    let response = HTTPResponse<Operation>(
      response: head ?? HTTPURLResponse(url: request.graphQLEndpoint, statusCode: 200), rawData: result.result.body.bytes,
      parsedResponse: try GraphQLResult(
        result.result, source: .server, records: result.cacheRecords, policy: chain.requestMemory?.policy))
    response.cacheRecords = result.cacheRecords
    chain.proceed(Travel(request, response, completion, latest?.turn))
  }
}

/// The way down through the interceptors of the core.
private struct CoreWay<Operation: GraphQLOperation>: Sendable {
  typealias CoreRequest = Carabiner.JSONRequest<Operation>

  let interceptors: [any GraphQLInterceptor]
  let end: @Sendable (CoreRequest) -> InterceptorResultStream<CoreRequest>

  func pass(_ request: CoreRequest, from start: Int) async -> InterceptorResultStream<CoreRequest> {
    for index in start..<interceptors.count where !interceptors[index].isIdle(for: request) {
      do {
        return try await interceptors[index].intercept(request: request) { request in
          await self.pass(request, from: index + 1).startedInThisScope()
        }
      } catch {
        return .failing(error)
      }
    }
    return end(request)
  }
}

extension HTTPRequest {
  /// Takes over the changes of interceptors of the core.
  fileprivate func take(_ core: Carabiner.JSONRequest<Operation>) {
    graphQLEndpoint = core.graphQLEndpoint
    operation = core.operation
    wireOverrides = core.wireOverrides
    additionalHeaders = [:]
    for field in core.additionalHeaders { additionalHeaders[field.name] = field.value }
  }
}
