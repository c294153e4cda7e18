internal import FoundationEssentials
internal import Synchronization

/// The path of messages from the caller to the network: typed hooks, serialisation, raw hooks, framing.
final class StreamOutward<Input: Sendable>: Closable {
  private struct State {
    /// Messages that have not entered a hook.
    var inputs = Queue<Input>()
    /// Whether the stream has ended. Then messages are dropped.
    var isOver = false
    var isInputClosed = false
    var isCloseSent = false
    /// Sends the body; nil before the stream is opened, and after its end.
    var exchange: RequestCallbacks<Data>?
    var passes: (typed: HookPass<Input>, raw: HookPass<Data>)?
  }

  private let plan: CallPlan
  private let state = Mutex(State())
  private let queue: CallQueue

  init(_ plan: CallPlan, _ queue: CallQueue) {
    self.plan = plan
    self.queue = queue
  }

  // MARK: From the caller

  /// Adds a message. In a server stream it also ends the request.
  ///
  /// - Throws: ``ConnectError`` if the request was ended before.
  func send(_ input: Input) throws(ConnectError) {
    let isAccepted = state.withLock { state in
      guard !state.isInputClosed else { return false }
      state.isInputClosed = plan.type == .serverStream
      if !state.isOver { state.inputs.add(input) }
      return true
    }
    guard isAccepted else {
      throw ConnectError(
        code: .failedPrecondition,
        message: plan.type == .serverStream
          ? "a server stream has one request message, which was sent before" : "the stream was closed for sending before")
    }
    queue.add { self.run() }
  }

  /// Ends the request.
  func endInput() {
    state.withLock { $0.isInputClosed = true }
    queue.add { self.run() }
  }

  // MARK: To the network

  /// Makes the passes.
  ///
  /// - Parameter failed: Gets the error of a message that cannot be sent. The stream ends with it.
  func prepare(
    _ hooks: StreamHooks<Input, some Sendable>, _ form: StreamForm<Input, some Sendable>,
    failed: @escaping @Sendable (ConnectError) -> Void
  ) {
    let wake = Wakeup(queue) { [weak self] in self?.run() }
    let (wire, serialize) = (plan.wire, form.serialize)
    let raw = HookPass(
      hooks.rawInput, queue: queue, changed: { wake() },
      last: { message, _ in
        do throws(ConnectError) { self.exchange?.sendData(try wire.frame(message)) } catch { failed(error) }
      })
    let typed = HookPass(
      hooks.input, queue: queue, changed: { wake() },
      last: { input, life in
        do { raw.enter(try serialize(input), life) } catch { failed(.unserializable(error)) }
      })
    state.withLock { $0.passes = (typed, raw) }
  }

  /// The stream was opened.
  func open(_ exchange: RequestCallbacks<Data>) {
    state.withLock { $0.exchange = exchange }
    queue.add { self.run() }
  }

  private var exchange: RequestCallbacks<Data>? { state.withLock { $0.exchange } }

  /// Moves messages into the hooks while these have room, and ends the body after the last one. Runs on the queue of the call.
  private func run() {
    guard let passes = state.withLock({ $0.exchange == nil ? nil : $0.passes }) else { return }
    let maximum = plan.config.hookLimits.maximumHeldValues
    while passes.typed.held < maximum, passes.raw.held < maximum, let input = takeInput() {
      passes.typed.enter(input, CallLife { _ in })
    }
    guard passes.typed.isIdle, passes.raw.isIdle else { return }
    let ended: RequestCallbacks<Data>? = state.withLock { state in
      guard state.isInputClosed, !state.isCloseSent, state.inputs.isEmpty, let exchange = state.exchange else { return nil }
      state.isCloseSent = true
      return exchange
    }
    ended?.sendClose()
  }

  private func takeInput() -> Input? {
    state.withLock { $0.inputs.take() }
  }

  func close() {
    let dropped = state.withLock { state in
      let dropped = state
      (state.inputs, state.exchange, state.passes, state.isOver) = (Queue(), nil, nil, true)
      return dropped
    }
    dropped.passes?.typed.close()
    dropped.passes?.raw.close()
  }
}
