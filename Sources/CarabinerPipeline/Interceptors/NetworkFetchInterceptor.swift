public import Carabiner
internal import Synchronization

/// Sends requests through a ``URLSessionClient``.
///
/// It proceeds once for each result. A response in parts has several.
public class NetworkFetchInterceptor: ApolloInterceptor, Cancellable {
  private let client: URLSessionClient
  /// Keeps the client valid; nil if another object does.
  private let owner: ClientOwner?
  /// The tasks of chains that are types of the user. Other chains abort their tasks themselves.
  private let foreignTasks = Mutex<[URLSessionTask]>([])

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
    guard let place = chain as? ChainPlace else { return foreignTasks.withLock { $0.append(task) } }
    let aborting = Transferred(client)
    place.place.pass.atEnd { aborting.value.abort(task) }
  }

  /// Aborts the transfers of chains that are types of the user.
  public func cancel() {
    for task in foreignTasks.withLock({ $0 }) { client.abort(task) }
  }
}
