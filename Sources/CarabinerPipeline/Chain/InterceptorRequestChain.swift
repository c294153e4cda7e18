public import Carabiner
public import Dispatch
internal import Logging
internal import Synchronization

/// Runs a request through a list of interceptors.
///
/// It works without a transport. Each interceptor gets a chain value that knows its place, so results, retries and concurrent calls do
/// not disturb each other.
public final class InterceptorRequestChain: RequestChain, @unchecked Sendable {
  // The list and the handler do not change after the start; all other properties are immutable or behind a mutex.

  /// An error of the chain itself.
  public enum ChainError: DescribedError, @unchecked Sendable {
    /// The list has no interceptors.
    case noInterceptors
    /// The last interceptor proceeded without a parsed response.
    case invalidIndex(chain: any RequestChain, index: Int)
    /// No interceptor of the list has this `id`.
    case unknownInterceptor(id: String)
    /// The interceptor of this type released the chain and its completion and called neither.
    case abandoned(by: String)
    /// The chain was started this often.
    case retryLimit(attempts: Int)

    public var description: String {
      switch self {
      case .noInterceptors: "the chain has no interceptors; return some from the interceptor provider"
      case .invalidIndex(_, let index):
        "the last of \(index) interceptors proceeded without a parsed response; add interceptors that fetch and parse"
      case .unknownInterceptor(let id): "the chain has no interceptor with the id \(id); proceed behind one of its own"
      case .abandoned(let name): "\(name) ended without a call of its chain or completion; call one of them in each case"
      case .retryLimit(let attempts):
        "the request was started \(attempts) times without success; add a MaxRetryInterceptor, or raise maximumAttempts"
      }
    }
  }

  /// The default of ``maximumAttempts``.
  public static let defaultMaximumAttempts = 100

  private static let logger = Logger(label: "carabiner.pipeline")

  private struct State {
    var pass = Pass()
    var attempts = 0
    var isCancelled = false
    var queue: CallbackQueue?
    /// Reports the end to the caller, while the caller's completion exists.
    weak var cancellation: CancellationReport?
    var ignoredCalls = 0
    /// Ends a pass that takes too long.
    var timer: Task<Void, Never>?
  }

  private let list: InterceptorList
  private let callbackQueue: DispatchQueue
  private let state = Mutex(State())
  let trampoline = Trampoline()
  /// How many places of interceptors exist. Without any, the request is over.
  let livePlaces = Atomic<Int>(0)
  let memory = ChainMemory()

  /// The interceptor that sees each error before the caller. Set it before the start.
  public var additionalErrorHandler: (any ApolloErrorInterceptor)?
  /// How often the chain may be started, the first time included.
  public var maximumAttempts = InterceptorRequestChain.defaultMaximumAttempts
  /// Whether the caller receives a `CancellationError` after ``cancel()``. By default, it receives nothing. Set it before the start.
  public var reportsCancellation = false

  /// Receives an event for each step of an interceptor; nil, the default, for none. Set it before the start.
  ///
  /// The hook of its events is `interceptAsync`, or `handleErrorAsync` for the additional error interceptor. Their direction is up if the
  /// interceptor got a response.
  public var tracer: (any ChainTracer)?

  /// How long a pass may take, interceptors included, in seconds; nil for no limit. Set it before the start.
  var passTimeout: Double?

  /// A chain of these interceptors.
  public init(interceptors: [any ApolloInterceptor], callbackQueue: DispatchQueue = Callbacks.defaultQueue) {
    list = InterceptorList(interceptors)
    self.callbackQueue = callbackQueue
  }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// How many calls were ignored because their pass or the chain had ended.
  package var ignoredCalls: Int { state.withLock { $0.ignoredCalls } }

  /// How many interceptors may still go on.
  package var places: Int { livePlaces.load(ordering: .acquiring) }

  private var queue: CallbackQueue {
    if let queue = state.withLock({ $0.queue }) { return queue }
    let made = CallbackQueue(on: callbackQueue)
    return state.withLock { state in
      let queue = state.queue ?? made
      if state.isCancelled { queue.close() }
      state.queue = queue
      return queue
    }
  }

  // MARK: The way

  /// Runs the interceptor at `index` of a list, or delivers the result after the last one.
  func enter<Operation: GraphQLOperation>(
    _ index: Int, of list: InterceptorList, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    guard goesOn(pass) else { return }
    trampoline.nest { self.step(index, of: list, pass, travel) }
  }

  private func step<Operation: GraphQLOperation>(
    _ index: Int, of list: InterceptorList, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    guard goesOn(pass) else { return }
    guard index < list.interceptors.count else {
      if let end = list.end { return end.reached(travel) }
      guard let value = travel.response?.parsedResponse else {
        let count = list.interceptors.count
        let error: ChainError = count == 0 ? .noInterceptors : .invalidIndex(chain: self, index: count)
        return report(error, of: list, pass, travel)
      }
      return deliver(.success(value), pass, travel)
    }
    let place = OperationPlace(self, pass, list, index, travel)
    travel.turn?.entered()
    list.interceptors[index].interceptAsync(
      chain: ChainPlace(place), request: travel.request, response: travel.response, completion: place.completion)
    travel.turn?.left()
  }

  func proceed<Operation: GraphQLOperation>(
    behind id: String, orBehind place: Int?, of list: InterceptorList, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    let found = list.interceptors.indices.filter { list.interceptors[$0].id == id }
    guard let only = found.first else { return report(ChainError.unknownInterceptor(id: id), of: list, pass, travel) }
    enter((found.count == 1 ? only : place ?? only) + 1, of: list, pass, travel)
  }

  func proceedFromErrorInterceptor<Operation: GraphQLOperation>(_ place: Place, _ travel: Travel<Operation>) {
    deliver(.failure(ChainError.unknownInterceptor(id: errorHandlerName)), place.pass, travel)
  }

  /// The type of the additional error interceptor.
  var errorHandlerName: String { additionalErrorHandler.map { String(describing: type(of: $0)) } ?? "" }

  /// Ends `pass` and starts the next one.
  func retry<Operation: GraphQLOperation>(_ pass: Pass, _ travel: Travel<Operation>, isFromErrorInterceptor: Bool = false) {
    guard goesOn(pass), pass.end() else { return }
    let next = Pass()
    let attempts = state.withLock { state in
      state.pass = next
      state.attempts += 1
      return state.attempts
    }
    // A cancellation between the two ended only the last pass.
    if isCancelled { next.end() }
    guard attempts <= maximumAttempts else {
      let error = ChainError.retryLimit(attempts: maximumAttempts)
      return isFromErrorInterceptor ? deliver(.failure(error), next, travel) : report(error, of: list, next, travel)
    }
    startTimer(of: next)
    trampoline.restart { [list] in self.step(0, of: list, next, travel) }
  }

  /// Whether calls from `pass` count. Those of an ended one are ignored.
  private func goesOn(_ pass: Pass) -> Bool {
    if !pass.isOver, !isCancelled { return true }
    state.withLock { $0.ignoredCalls += 1 }
    Self.logger.debug("a call of an interceptor was ignored, because its pass has ended")
    return false
  }

  // MARK: Results

  /// Shows an error to the additional error interceptor, if there is one, and then to the caller.
  func report<Operation: GraphQLOperation>(
    _ error: any Error, of list: InterceptorList, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    if let end = list.end { return end.failed(error) }
    guard let handler = additionalErrorHandler else { return deliver(.failure(error), pass, travel) }
    guard goesOn(pass) else { return }
    let place = OperationPlace(self, pass, list, nil, error: error, travel)
    travel.turn?.entered()
    handler.handleErrorAsync(
      error: error, chain: ChainPlace(place), request: travel.request, response: travel.response, completion: place.completion)
    travel.turn?.left()
  }

  /// Calls the completion of `travel` on the queue of the caller.
  func deliver<Operation: GraphQLOperation>(
    _ result: Result<GraphQLResult<Operation.Data>, any Error>, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    guard goesOn(pass) else { return }
    queue.add(CallbackQueue.Callback(turn: travel.turn) { travel.completion(result) })
  }

  /// The completion of an interceptor was called: by a callback that passes its result on, or by the interceptor itself.
  func complete<Operation: GraphQLOperation>(
    _ result: Result<GraphQLResult<Operation.Data>, any Error>, _ pass: Pass, _ travel: Travel<Operation>
  ) {
    let queue = queue
    if queue.isCurrent { queue.nest { travel.completion(result) } } else { deliver(result, pass, travel) }
  }

  // MARK: From outside

  public func kickoff<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    retry(request: request, completion: completion)
  }

  public func retry<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    // Made here, so that callbacks see the task-locals of this call.
    _ = queue
    retry(state.withLock { $0.pass }, Travel(request, nil, reporting(completion), nil))
  }

  /// Runs the first interceptor with a response.
  func start<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    _ = queue
    retry(state.withLock { $0.pass }, Travel(request, response, completion, nil))
  }

  /// The completion of the caller, which also reports a cancellation if that is wanted.
  private func reporting<Value>(
    _ completion: @escaping (Result<Value, any Error>) -> Void
  ) -> (Result<Value, any Error>) -> Void {
    guard reportsCancellation || passTimeout != nil else { return completion }
    let report = CancellationReport { completion(.failure($0)) }
    state.withLock { $0.cancellation = report }
    return { result in withExtendedLifetime(report) { completion(result) } }
  }

  public func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    report(
      ChainError.unknownInterceptor(id: ""), of: list, state.withLock { $0.pass }, Travel(request, response, completion, nil))
  }

  public func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?, interceptor: any ApolloInterceptor,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    proceed(
      behind: interceptor.id, orBehind: nil, of: list, state.withLock { $0.pass }, Travel(request, response, completion, nil))
  }

  public func handleErrorAsync<Operation: GraphQLOperation>(
    _ error: any Error, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    report(error, of: list, state.withLock { $0.pass }, Travel(request, response, completion, nil))
  }

  public func returnValueAsync<Operation: GraphQLOperation>(
    for request: HTTPRequest<Operation>, value: GraphQLResult<Operation.Data>,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    deliver(.success(value), state.withLock { $0.pass }, Travel(request, nil, completion, nil))
  }

  // MARK: Cancelling

  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends the request: callbacks that have not begun do not begin, and the transfer is aborted.
  public func cancel() { end(reporting: reportsCancellation ? CancellationError() : nil) }

  /// Ends the request with an error if `pass` takes too long.
  private func startTimer(of pass: Pass) {
    guard let limit = passTimeout, limit.isFinite else { return }
    let timer = Task { [weak self] in
      guard (try? await Task.sleep(for: .bounded(seconds: limit))) != nil, let self, !pass.isOver,
        places > 0
      else { return }
      end(
        reporting: RequestChainError(
          .timedOut, "an attempt took longer than \(limit) s, interceptors included; raise the timeout of the request's context"))
    }
    let last: Task<Void, Never>? = state.withLock { state in
      // Another retry may have started a later pass meanwhile.
      guard state.pass === pass else { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    last?.cancel()
  }

  /// Ends the request, with a last callback if there is an error to report.
  private func end(reporting error: (any Error)?) {
    let ended: (pass: Pass, queue: CallbackQueue?, report: CancellationReport?)? = state.withLock { state in
      guard !state.isCancelled else { return nil }
      state.isCancelled = true
      return (state.pass, state.queue, state.cancellation)
    }
    guard let ended else { return }
    let last = error.flatMap { error in ended.report.map { report in CallbackQueue.Callback { report.body(error) } } }
    ended.queue?.close(after: last)
    ended.pass.end()
    guard places > 0 else { return }
    for interceptor in list.interceptors { (interceptor as? any Cancellable)?.cancel() }
    (additionalErrorHandler as? any Cancellable)?.cancel()
  }
}

/// Reports to the caller that its request was ended. It exists as long as the completion of the caller does.
private final class CancellationReport: @unchecked Sendable {
  // Its closure is called once, on the queue of the caller.

  let body: (any Error) -> Void

  init(_ body: @escaping (any Error) -> Void) { self.body = body }
}
