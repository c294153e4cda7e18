@_spi(InterceptorHints) internal import Carabiner
internal import FoundationEssentials

/// The operation of one pass over a socket. It proceeds with each of its results.
struct SocketFetch<Operation: GraphQLOperation> {
  private let request: SocketRequest<Operation>
  private let chain: any RequestChain
  private let completion: Travel<Operation>.Completion
  private let started: Result<PullStream<GraphQLResponse<Operation>>, any Error>

  /// Starts the operation.
  ///
  /// It starts on the thread of the interceptor, and not in a task: tasks run in any order, and operations are sent in the order of their
  /// calls.
  init(
    request: SocketRequest<Operation>, chain: any RequestChain, completion: @escaping Travel<Operation>.Completion
  ) {
    self.request = request
    self.chain = chain
    self.completion = completion
    started = Result { try request.runner.results(of: request.operation, payload: try request.payload) }
  }

  func run() async {
    do {
      noteSkippedStages()
      let gate = ResultGate()
      var isEmpty = true
      for try await result in try started.get() {
        isEmpty = false
        proceed(with: result.body.bytes, gate)
        await gate.wait()
        try Task.checkCancellation()
      }
      if isEmpty, request.operation.operationType != .subscription {
        throw RequestChainError(
          .noResults, "the server ended \(request.operation.operationName ?? "the operation") without a result; check its log")
      }
      end()
    } catch is CancellationError {
      end()
    } catch {
      chain.handleErrorAsync(error, request: request, response: nil, completion: completion)
    }
  }

  /// Marks the interceptor as done at the end of the operation. A subscription may end without a result, which is not a failure.
  private func end() { (chain as? ChainPlace)?.place.use("ended") }

  /// A socket has no head. Interceptors that look at it see one without header fields.
  private func proceed(with body: Data, _ gate: ResultGate) {
    let head = HTTPURLResponse(url: request.graphQLEndpoint, statusCode: 200)
    chain.requestMemory?.head = head
    let response = HTTPResponse<Operation>(response: head, rawData: body, parsedResponse: nil)
    guard let place = chain as? ChainPlace else {
      return chain.proceedAsync(request: request, response: response, completion: completion)
    }
    place.proceed(Travel(request, response, completion, ResultTurn(gate)))
  }

  private func noteSkippedStages() {
    let stages = chain.requestMemory?.stages?.interceptors.http ?? []
    let skipped = stages.filter { !($0 is Carabiner.ResponseCodeInterceptor) }.map(\.stageName)
    if !skipped.isEmpty { request.runner.skipped(skipped) }
  }
}
