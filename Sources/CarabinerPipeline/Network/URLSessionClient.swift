public import Carabiner
public import Foundation
internal import Synchronization

/// Sends HTTP requests for ``NetworkFetchInterceptor``.
///
/// A subclass that overrides ``sendRequest(_:taskDescription:rawTaskCompletionHandler:completion:)`` replaces the network.
open class URLSessionClient {
  /// Gets everything that was received, once for a task.
  public typealias RawCompletion = (Data?, HTTPURLResponse?, (any Error)?) -> Void
  /// Gets each result: the whole body, or the JSON of one part; or an error.
  public typealias Completion = (Result<(Data, HTTPURLResponse), any Error>) -> Void

  private struct State {
    var transport: (any HTTPTransport)?
    var transfers: [Int: ClientTransfer] = [:]
    var isInvalidated = false
  }

  /// The session that delegate methods get.
  public let session: URLSession
  private let stages: (any Carabiner.InterceptorProvider)?
  /// The limits that the user chose; nil for those of the interceptors of the core.
  private let limits: ResponseLimits?
  /// Where its methods and completions are called.
  private let executor: QueueExecutor
  private let state: Mutex<State>

  /// A client with connections of its own.
  ///
  /// - Parameters:
  ///   - sessionConfiguration: The settings of its connections.
  ///   - callbackQueue: The queue of completions and delegate methods; nil for threads of the background.
  ///   - sessionDescription: A text for the session.
  public init(
    sessionConfiguration: URLSessionConfiguration = .default, callbackQueue: OperationQueue? = nil,
    sessionDescription: String? = nil
  ) {
    session = URLSession(configuration: sessionConfiguration, description: sessionDescription)
    stages = nil
    limits = nil
    executor = callbackQueue.map { QueueExecutor($0) } ?? .background
    state = Mutex(State())
  }

  /// A client over a transport.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests. It may be shared with others.
  ///   - stages: Its HTTP interceptors see each request and response; nil for none.
  ///   - limits: The limits of responses in parts; nil for those of the parser among the interceptors of the core, for example
  ///     `maximum-part` of a manifest, or else the defaults. The transport limits other bodies.
  public init(
    transport: any HTTPTransport, stages: (any Carabiner.InterceptorProvider)? = nil, limits: ResponseLimits? = nil
  ) {
    session = URLSession(configuration: .default)
    self.stages = stages
    self.limits = limits
    executor = .background
    state = Mutex(State(transport: transport))
  }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - taskDescription: A text for the task.
  ///   - rawTaskCompletionHandler: Gets everything that was received, before the last call of `completion`.
  ///   - completion: Gets each result, in order.
  /// - Returns: The transfer.
  @discardableResult
  open func sendRequest(
    _ request: URLRequest, taskDescription: String? = nil, rawTaskCompletionHandler: RawCompletion? = nil,
    completion: @escaping Completion
  ) -> URLSessionTask {
    let task = URLSessionDataTask(originalRequest: request, taskDescription: taskDescription)
    let transfer = ClientTransfer(task, raw: rawTaskCompletionHandler, completion)
    let started: Result<any HTTPTransport, any Error> = Result {
      try state.withLock { state in
        guard !state.isInvalidated else { throw URLSessionClientError.sessionInvalidated }
        let transport = try state.transport ?? session.configuration.transport()
        state.transport = transport
        state.transfers[task.taskIdentifier] = transfer
        return transport
      }
    }
    switch started {
    case .failure(let error):
      task.finish()
      transfer.fail(error)
    case .success(let transport):
      let client = Transferred(self)
      let exchange = ClientExchange(
        client: client, transport: transport, stages: stages, limits: limits, request: request, transfer: transfer,
        call: FetchCall.current)
      // Requests that interceptors send while they handle this one are not those of this call.
      FetchCall.$current.withValue(nil) {
        task.start(
          Task(executorPreference: executor) {
            await exchange.run()
            task.finish()
            client.value.clear(task: task)
          })
      }
    }
    return task
  }

  /// Aborts a transfer. Its completion is not called.
  open func cancel(task: URLSessionTask) {
    clear(task: task)
    task.cancel()
  }

  /// Forgets the completions of a transfer, which goes on.
  open func clear(task: URLSessionTask) { clear(task: task.taskIdentifier) }

  /// Forgets the completions of the transfer with this number, which goes on.
  open func clear(task identifier: Int) { take(identifier)?.clear() }

  /// Forgets the completions of all transfers.
  open func clearAllTasks() {
    let transfers = state.withLock { state in
      defer { state.transfers = [:] }
      return state.transfers
    }
    for transfer in transfers.values { transfer.clear() }
  }

  /// Ends the client. Transfers under way and later requests fail with ``URLSessionClientError/sessionInvalidated``.
  open func invalidate() {
    let transfers = state.withLock { state in
      state.isInvalidated = true
      defer { state.transfers = [:] }
      return state.transfers
    }
    for transfer in transfers.values {
      transfer.fail(URLSessionClientError.sessionInvalidated)
      transfer.task.cancel()
    }
  }

  /// Aborts a transfer that a retry or a cancellation made needless.
  func abort(_ task: URLSessionTask) { cancel(task: task) }

  private func take(_ identifier: Int) -> ClientTransfer? {
    state.withLock { $0.transfers.removeValue(forKey: identifier) }
  }

  // MARK: Delegate methods

  /// The head of a response arrived. The body is read when `completionHandler` is called.
  ///
  /// The default calls the method without `completionHandler` and allows the response.
  ///
  /// - Parameter completionHandler: Decides about the transfer. If it is released without a call, the transfer is cancelled.
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: HTTPURLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    urlSession(session, dataTask: dataTask, didReceive: response)
    completionHandler(.allow)
  }

  /// The head of a response arrived. Does nothing; subclasses override it.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: HTTPURLResponse) {}

  /// A piece of a body arrived. Does nothing; subclasses override it.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

  /// A transfer ended. Does nothing; subclasses override it.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}
