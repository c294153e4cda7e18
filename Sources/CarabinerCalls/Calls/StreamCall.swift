internal import FoundationEssentials
internal import Synchronization

/// A stream. Its caller gets the headers once, messages, and exactly one end, whatever hooks, network and caller do.
///
/// The request passes the start hooks when the stream is created, and is opened. Then messages pass through ``StreamOutward``, and
/// results through ``StreamInward``.
package final class StreamCall<Input: Sendable, Output: Sendable>: Sendable {
  private struct State {
    /// The hooks, which keep the interceptors; nil after the end.
    var hooks: StreamHooks<Input, Output>?
    var start: HookPass<HTTPRequest<Void>>?
    /// The path of results; nil before the stream is opened, and after its end.
    var inward: StreamInward<Output>?
    var isOpened = false
    /// Aborts the exchange.
    var abort: (@Sendable () -> Void)?
    /// Why the stream ends early.
    var ending: ConnectError?
    var isOver = false
    var deadline: Task<Void, Never>?
    var metrics: HTTPMetrics?
    var hasReportedMetrics = false
  }

  private let plan: CallPlan
  private let form: StreamForm<Input, Output>
  private let sink: StreamSink<Output>
  private let outward: StreamOutward<Input>
  private let queue = CallQueue()
  private let state: Mutex<State>

  package init(
    _ plan: CallPlan, _ form: StreamForm<Input, Output>, _ hooks: StreamHooks<Input, Output>, _ sink: StreamSink<Output>
  ) {
    self.plan = plan
    self.form = form
    self.sink = sink
    outward = StreamOutward(plan, queue)
    state = Mutex(State(hooks: hooks))
  }

  /// Makes the stream: runs the start hooks, and opens it.
  package func start() {
    limitTime()
    queue.add { self.begin() }
  }

  // MARK: From the caller

  /// Sends a message. In a server stream it also ends the request.
  ///
  /// - Throws: ``ConnectError`` if the request was ended before.
  package func send(_ input: Input) throws(ConnectError) { try outward.send(input) }

  /// Sends a message. If the request was ended before, the stream ends with the error.
  package func sendOrEnd(_ input: Input) {
    do throws(ConnectError) { try outward.send(input) } catch { end(error) }
  }

  /// Ends the request.
  package func close() { outward.endInput() }

  package func cancel() { end(.canceled()) }

  // MARK: The journey

  private func begin() {
    guard let hooks = state.withLock({ $0.hooks }) else { return }
    do throws(ConnectError) {
      let request = try plan.request(())
      let start = HookPass(
        hooks.start, queue: queue, adopt: { $0.completed(by: $1) }, refused: { self.finish(.failed($0)) },
        last: { request, _ in self.open(request, hooks) })
      let isOpen = state.withLock { state in
        if !state.isOver { state.start = start }
        return !state.isOver
      }
      if isOpen { start.enter(request, CallLife { self.startAbandoned(by: $0) }) }
    } catch {
      finish(.failed(error))
    }
  }

  private func open(_ request: HTTPRequest<Void>, _ hooks: StreamHooks<Input, Output>) {
    let opening: HTTPRequest<Data?>
    do throws(ConnectError) { opening = try plan.opening(request) } catch { return finish(.failed(error)) }
    let failed: @Sendable (ConnectError) -> Void = { self.end($0) }
    let inward = StreamInward(
      plan, hooks, form, sink, opening.exchange, queue: queue, failed: failed, finished: { self.finish($0) },
      abandoned: { self.resultsAbandoned(by: $0) })
    let isFirst = state.withLock { state in
      guard !state.isOver, state.ending == nil, !state.isOpened else { return false }
      (state.isOpened, state.inward) = (true, inward)
      return true
    }
    guard isFirst else { return inward.close() }
    outward.prepare(hooks, form, failed: failed)
    let callbacks = inward.callbacks(failed: failed, metrics: { self.received($0, hooks.metrics) })
    let exchange = plan.client.stream(request: opening, responseCallbacks: callbacks)
    let isUnderWay = state.withLock { state in
      guard !state.isOver, state.ending == nil else { return false }
      state.abort = exchange.cancel
      return true
    }
    guard isUnderWay else {
      outward.close()
      if let ending = state.withLock({ $0.ending }) { inward.end(with: ending) }
      return exchange.cancel()
    }
    outward.open(exchange)
  }

  // MARK: The end

  private func finish(_ last: StreamResult<Output>) {
    let ended: State? = state.withLock { state in
      guard !state.isOver else { return nil }
      let ended = state
      state.isOver = true
      (state.hooks, state.start, state.inward, state.abort, state.deadline) = (nil, nil, nil, nil, nil)
      return ended
    }
    guard let ended else { return }
    ended.deadline?.cancel()
    if let inward = ended.inward {
      // After its own end, the rest of the response is read so that the connection can be used again.
      if !inward.isComplete { ended.abort?() }
      inward.close()
    }
    ended.start?.close()
    outward.close()
    if let metrics = ended.metrics { report(metrics, ended.hooks?.metrics) }
    sink.deliver(last)
  }

  /// Ends the stream early. If it was opened, the hooks get the end as a result.
  private func end(_ error: ConnectError) {
    let ended: State? = state.withLock { state in
      guard !state.isOver, state.ending == nil else { return nil }
      state.ending = error
      return state
    }
    guard let ended else { return }
    // Before the exchange is cancelled: the end that it reports then is not the caller's.
    ended.inward?.end(with: error)
    ended.abort?()
    guard ended.inward != nil else { return finish(.failed(error)) }
    let patience = plan.config.hookLimits.patience
    Task { [weak self] in
      try? await Task.sleep(for: patience)
      self?.finish(.failed(error))
    }
  }

  private func startAbandoned(by interceptor: String?) {
    if !state.withLock({ $0.isOpened }) { finish(.failed(.abandoned(by: interceptor))) }
  }

  private func resultsAbandoned(by interceptor: String?) {
    let ending = state.withLock { $0.ending }
    finish(.failed(ending ?? .abandoned(by: interceptor)))
  }

  private func limitTime() {
    guard let limit = plan.timeoutDuration else { return }
    guard limit > .zero else { return end(.deadlineExceeded()) }
    let deadline = Task { [weak self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      self?.end(.deadlineExceeded())
    }
    let isNeeded = state.withLock { state in
      if !state.isOver { state.deadline = deadline }
      return !state.isOver
    }
    if !isNeeded { deadline.cancel() }
  }

  // MARK: Figures

  private func received(_ metrics: HTTPMetrics, _ hook: MetricsHook?) {
    let isOver = state.withLock { state in
      if !state.isOver { state.metrics = metrics }
      return state.isOver
    }
    if isOver { report(metrics, hook) }
  }

  private func report(_ metrics: HTTPMetrics, _ hook: MetricsHook?) {
    let isFirst = state.withLock { state in
      defer { state.hasReportedMetrics = true }
      return !state.hasReportedMetrics
    }
    if isFirst { queue.add { hook?(metrics) } }
  }
}
