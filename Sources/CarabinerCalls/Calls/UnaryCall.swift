internal import FoundationEssentials
internal import Synchronization

/// A unary call: one outcome, whatever hooks, network and caller do.
///
/// The request passes the typed hooks, is serialised, passes the raw hooks, and is sent. Each response passes the hooks in the opposite
/// order, on a pass of its own. The first one that arrives at the end is the outcome.
package final class UnaryCall<Input: Sendable, Output: Sendable>: Sendable {
  package typealias Outcome = ResponseMessage<Output>

  private struct State {
    /// The hooks, which keep the interceptors; nil after the end.
    var hooks: UnaryHooks<Input, Output>?
    /// The passes under way.
    var passes: [any Closable] = []
    var attempts = 0
    /// Cancel the exchanges under way.
    var exchanges: [Int: Cancelable] = [:]
    /// Why the call ends early. Only the response that reports it can be the outcome then.
    var ending: ConnectError?
    var outcome: Outcome?
    var completion: (@Sendable (Outcome) -> Void)?
    var deadline: Task<Void, Never>?
    /// The figures of the last exchange.
    var metrics: HTTPMetrics?
    var hasReportedMetrics = false

    var isOver: Bool { outcome != nil }
  }

  private let plan: CallPlan
  private let form: UnaryForm<Input, Output>
  /// Runs hooks.
  private let queue = CallQueue()
  /// Runs the completion, which does not wait for a hook.
  private let results = CallQueue()
  private let state: Mutex<State>

  package init(_ plan: CallPlan, _ form: UnaryForm<Input, Output>, _ hooks: UnaryHooks<Input, Output>) {
    self.plan = plan
    self.form = form
    state = Mutex(State(hooks: hooks))
  }

  /// Sends a message.
  ///
  /// - Parameter completion: Gets the outcome on a thread of the library.
  package func start(_ message: Input, completion: @escaping @Sendable (Outcome) -> Void) {
    state.withLock { $0.completion = completion }
    deliverOutcome()
    limitTime()
    queue.add { self.begin(message) }
  }

  package func cancel() { end(.canceled()) }

  // MARK: The journey

  private func begin(_ message: Input) {
    guard let hooks = state.withLock({ $0.hooks }) else { return }
    do throws(ConnectError) {
      let request = try plan.request(message)
      let refused: @Sendable (ConnectError) -> Void = { self.finish(Outcome(failure: $0)) }
      let raw = HookPass(
        hooks.rawRequest, queue: queue, adopt: { $0.completed(by: $1) }, refused: refused,
        last: { request, life in self.send(request, life) })
      let typed = HookPass(
        hooks.request, queue: queue, adopt: { $0.completed(by: $1) }, refused: refused,
        last: { request, life in if let serialized = self.serialize(request) { raw.enter(serialized, life) } })
      guard keep([typed, raw]) else { return }
      typed.enter(request, CallLife { self.abandoned(by: $0) })
    } catch {
      finish(Outcome(failure: error))
    }
  }

  private func serialize(_ request: HTTPRequest<Input>) -> HTTPRequest<Data?>? {
    do {
      let isDeterministic = plan.allowsGET(request.idempotencyLevel)
      return request.carrying(try form.serialize(request.message, isDeterministic))
    } catch {
      finish(Outcome(failure: .unserializable(error)))
      return nil
    }
  }

  private func send(_ request: HTTPRequest<Data?>, _ life: CallLife) {
    do throws(ConnectError) {
      let sent = try plan.sent(request)
      guard let attempt = try beginAttempt() else { return }
      let hasResponse = Once()
      let metricsHook = state.withLock { $0.hooks?.metrics }
      let exchange = plan.client.unary(
        request: sent, onMetrics: { self.received($0, ofAttempt: attempt, metricsHook) },
        onResponse: { response in
          guard hasResponse.first() else { return }
          self.queue.add {
            let ended = self.state.withLock { $0.exchanges.removeValue(forKey: attempt) }
            withExtendedLifetime(ended) {}
            self.receive(self.read(response), life)
          }
        })
      let isUnderWay = state.withLock { state in
        guard !state.isOver, state.ending == nil else { return false }
        if !hasResponse.isTaken { state.exchanges[attempt] = exchange }
        return true
      }
      if !isUnderWay { exchange.cancel() }
    } catch {
      finish(Outcome(failure: error))
    }
  }

  /// Applies the protocol to a response.
  private func read(_ response: HTTPResponse) -> HTTPResponse {
    if let error = response.error {
      return HTTPResponse(failure: response.code == .ok ? ConnectError(sending: error) : response.failure ?? .canceled())
    }
    var reader = plan.wire.reader(of: .unary)
    reader.begin(response.tracingInfo.map { .http($0.httpStatus) } ?? .code(response.code), headers: response.headers)
    reader.append(response.message ?? Data())
    reader.finish()
    var headers: Headers = [:]
    var message: Data?
    while let event = reader.next() {
      switch event {
      case .headers(let received): headers = received
      case .message(let received): message = received
      case .complete(let code, let error, let trailers):
        return HTTPResponse(
          code: code, headers: headers, message: message, trailers: trailers, error: error, tracingInfo: response.tracingInfo)
      }
    }
    return HTTPResponse(failure: ConnectError(code: .internalError, message: "the response has no end"))
  }

  /// Passes a response to the hooks.
  ///
  /// - Parameter isEnd: Whether the response only reports why the call ended before the server answered.
  private func receive(_ response: HTTPResponse, _ life: CallLife, isEnd: Bool = false) {
    guard let hooks = state.withLock({ $0.ending == nil || isEnd ? $0.hooks : nil }) else { return }
    let typed = HookPass(hooks.response, queue: queue) { response, _ in
      let isOutcome = self.state.withLock { $0.ending == nil || isEnd }
      if isOutcome { self.finish(response) }
    }
    let raw = HookPass(hooks.rawResponse, queue: queue) { response, life in typed.enter(self.parse(response), life) }
    guard keep([typed, raw]) else { return }
    raw.enter(response, life)
  }

  private func parse(_ response: HTTPResponse) -> Outcome {
    if let error = response.failure {
      return Outcome(code: error.code, headers: response.headers, result: .failure(error), trailers: response.trailers)
    }
    do {
      let message = try form.parse(response.message ?? Data())
      return Outcome(headers: response.headers, result: .success(message), trailers: response.trailers)
    } catch {
      let error = ConnectError.unparsable(error)
      return Outcome(code: error.code, headers: response.headers, result: .failure(error), trailers: response.trailers)
    }
  }

  // MARK: The end

  private func finish(_ outcome: Outcome) {
    let ended: State? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.outcome = outcome
      defer { (state.hooks, state.passes, state.exchanges, state.deadline) = (nil, [], [:], nil) }
      return state
    }
    guard let ended else { return }
    ended.deadline?.cancel()
    for exchange in ended.exchanges.values { exchange.cancel() }
    for pass in ended.passes { pass.close() }
    if let metrics = ended.metrics { report(metrics, ended.hooks?.metrics) }
    deliverOutcome()
  }

  private func deliverOutcome() {
    let ready: (Outcome, @Sendable (Outcome) -> Void)? = state.withLock { state in
      guard let outcome = state.outcome, let completion = state.completion else { return nil }
      state.completion = nil
      return (outcome, completion)
    }
    if let (outcome, completion) = ready { results.add { completion(outcome) } }
  }

  /// Ends the call early. If the request was sent, the hooks get the outcome as a response.
  private func end(_ error: ConnectError) {
    let sent: (wasSent: Bool, exchanges: [Cancelable])? = state.withLock { state in
      guard !state.isOver, state.ending == nil else { return nil }
      state.ending = error
      defer { state.exchanges = [:] }
      return (state.attempts > 0, Array(state.exchanges.values))
    }
    guard let sent else { return }
    for exchange in sent.exchanges { exchange.cancel() }
    guard sent.wasSent else { return finish(Outcome(failure: error)) }
    queue.add {
      self.receive(HTTPResponse(failure: error), CallLife { _ in self.finish(Outcome(failure: error)) }, isEnd: true)
    }
    let patience = plan.config.hookLimits.patience
    Task { [weak self] in
      try? await Task.sleep(for: patience)
      self?.finish(Outcome(failure: error))
    }
  }

  private func abandoned(by interceptor: String?) {
    let isOpen = state.withLock { !$0.isOver && $0.ending == nil }
    if isOpen { finish(Outcome(failure: .abandoned(by: interceptor))) }
  }

  private func limitTime() {
    guard let limit = plan.timeoutDuration else { return }
    guard limit > .zero else { return end(.deadlineExceeded()) }
    let deadline = Task { [weak self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      self?.end(.deadlineExceeded())
    }
    let isNeeded = state.withLock { state in
      guard !state.isOver else { return false }
      state.deadline = deadline
      return true
    }
    if !isNeeded { deadline.cancel() }
  }

  // MARK: Attempts and figures

  /// Counts an attempt. Returns nil if the call has ended.
  private func beginAttempt() throws(ConnectError) -> Int? {
    let maximum = plan.config.hookLimits.maximumAttempts
    let (attempt, ending) = state.withLock { state in
      guard !state.isOver else { return (Int?.none, ConnectError?.none) }
      guard state.ending == nil else { return (nil, state.ending) }
      guard state.attempts < maximum else { return (nil, ConnectError.tooManyAttempts(maximum)) }
      state.attempts += 1
      state.metrics = nil
      return (state.attempts, nil)
    }
    if let ending { throw ending }
    return attempt
  }

  /// Keeps the figures of the last attempt until the end of the call.
  private func received(_ metrics: HTTPMetrics, ofAttempt attempt: Int, _ hook: MetricsHook?) {
    let isDue = state.withLock { state in
      guard attempt == state.attempts else { return false }
      if !state.isOver { state.metrics = metrics }
      return state.isOver
    }
    if isDue { report(metrics, hook) }
  }

  private func report(_ metrics: HTTPMetrics, _ hook: MetricsHook?) {
    let isFirst = state.withLock { state in
      defer { state.hasReportedMetrics = true }
      return !state.hasReportedMetrics
    }
    if isFirst { queue.add { hook?(metrics) } }
  }

  private func keep(_ passes: [any Closable]) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.passes += passes
      return true
    }
  }
}

extension ConnectError {
  fileprivate static func tooManyAttempts(_ maximum: Int) -> ConnectError {
    ConnectError(
      code: .resourceExhausted,
      message: "the request was sent \(maximum) times; check which interceptor sends it again, or raise maximumAttempts")
  }
}
