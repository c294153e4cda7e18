@_spi(InterceptorHints) internal import Carabiner
internal import FoundationEssentials

/// Runs the operation of one pass over a socket, and proceeds with each of its results.
struct SocketFetch<Operation: GraphQLOperation> {
  let request: SocketRequest<Operation>
  let chain: any RequestChain
  let completion: Travel<Operation>.Completion

  func run() async {
    do {
      noteSkippedStages()
      let gate = ResultGate()
      var isEmpty = true
      for try await result in try request.runner.results(of: request.operation, payload: try request.payload) {
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

  /// Notes that this is the end. A subscription may end without a result, and the interceptor did not fail then.
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
