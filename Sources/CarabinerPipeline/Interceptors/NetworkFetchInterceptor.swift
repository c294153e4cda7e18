public import Carabiner
internal import Synchronization

/// Sends requests through a ``URLSessionClient``, or over the socket of a transport that has one.
///
/// It proceeds once for each result. A response in parts has several, and so has a subscription.
public class NetworkFetchInterceptor: ApolloInterceptor, Cancellable {
  private let client: URLSessionClient
  /// Keeps the client valid; nil if another object does.
  private let owner: ClientOwner?
  /// Abort the transfers of chains that are types of the user. Other chains abort their transfers themselves.
  private let foreignAborts = Mutex<[@Sendable () -> Void]>([])

  /// An interceptor that sends through `client`.
  public convenience init(client: URLSessionClient) { self.init(client: client, owner: nil) }

  init(client: URLSessionClient, owner: ClientOwner?) {
    self.client = client
    self.owner = owner
  }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    func fail(_ error: any Error) {
      chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    if request.cachePolicy == .returnCacheDataDontFetch, request.operation.operationType == .query {
      return fail(CacheMissError(operationName: request.operation.operationName))
    }
    if let request = request as? SocketRequest<Operation> {
      let fetch = Transferred(SocketFetch(request: request, chain: chain, completion: completion))
      let task = Task(executorPreference: QueueExecutor.background) { await fetch.value.run() }
      return atEnd(of: chain) { task.cancel() }
    }
    let sent: URLRequest
    do { sent = try request.toURLRequest() } catch { return fail(error) }
    let gate = ResultGate()
    let call = FetchCall(
      gate: gate, operation: CalledOperation(request.operation), stages: chain.requestMemory?.stages,
      tracer: (chain as? ChainPlace)?.engine.tracer)
    let task = FetchCall.$current.withValue(call) {
      client.sendRequest(sent, taskDescription: request.operation.operationName, rawTaskCompletionHandler: nil) { result in
        switch result {
        case .failure(let error): fail(error)
        case .success((let body, let head)):
          chain.requestMemory?.head = head
          let response = HTTPResponse<Operation>(response: head, rawData: body, parsedResponse: nil)
          guard let place = chain as? ChainPlace else {
            return chain.proceedAsync(request: request, response: response, completion: completion)
          }
          place.proceed(Travel(request, response, completion, ResultTurn(gate)))
        }
      }
    }
    let aborting = Transferred(client)
    atEnd(of: chain) { aborting.value.abort(task) }
  }

  /// Registers the function that aborts a transfer when the pass of its chain ends early.
  private func atEnd(of chain: any RequestChain, _ abort: @escaping @Sendable () -> Void) {
    guard let place = chain as? ChainPlace else { return foreignAborts.withLock { $0.append(abort) } }
    place.place.pass.atEnd(abort)
  }

  /// Aborts the transfers of chains that are types of the user.
  public func cancel() {
    for abort in foreignAborts.withLock({ $0 }) { abort() }
  }
}
