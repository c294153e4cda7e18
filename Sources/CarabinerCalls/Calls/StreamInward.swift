internal import FoundationEssentials
internal import Synchronization

/// The path of results from the network to the caller: raw hooks, parser, typed hooks.
final class StreamInward<Output: Sendable>: Closable {
  private let unread: StreamQueue
  private let sink: StreamSink<Output>
  private let exchange: Exchange?
  private let maximumHeldValues: Int
  private let raw: HookPass<StreamResult<Data>>
  private let typed: HookPass<StreamResult<Output>>
  private let wake: Wakeup
  private let isEnding = Atomic<Bool>(false)

  /// - Parameters:
  ///   - failed: Gets the error of a result that cannot be parsed. The stream ends with it.
  ///   - finished: Gets the end of the stream.
  ///   - abandoned: Called when the end cannot come any more, with the interceptor that released its closure last.
  init(
    _ plan: CallPlan, _ hooks: StreamHooks<some Sendable, Output>, _ form: StreamForm<some Sendable, Output>,
    _ sink: StreamSink<Output>, _ exchange: Exchange?, queue: CallQueue, failed: @escaping @Sendable (ConnectError) -> Void,
    finished: @escaping @Sendable (StreamResult<Output>) -> Void, abandoned: @escaping @Sendable (String?) -> Void
  ) {
    self.sink = sink
    self.exchange = exchange
    maximumHeldValues = plan.config.hookLimits.maximumHeldValues
    unread = StreamQueue(
      plan.wire.reader(of: .stream), maximumBytes: plan.config.options.maximumMessageBytes, life: CallLife(ended: abandoned))
    let news = WeakInward<Output>()
    let wake = Wakeup(queue) { news.value?.run() }
    self.wake = wake
    let typed = HookPass(
      hooks.result, queue: queue, changed: { wake() },
      last: { result, _ in
        for result in sink.admit(result) {
          if result.isComplete { finished(result) } else { sink.deliver(result) }
        }
      })
    self.typed = typed
    let parse = form.parse
    raw = HookPass(
      hooks.rawResult, queue: queue, changed: { wake() },
      last: { result, life in
        do { typed.enter(try result.parsed(by: parse), life) } catch { failed(.unparsable(error)) }
      })
    news.value = self
    sink.onRoom { wake() }
  }

  /// Whether the network has nothing more for the stream.
  var isComplete: Bool { unread.isOver }

  /// The callbacks for the HTTP client.
  ///
  /// - Parameters:
  ///   - failed: Gets an error of this side. The stream ends with it.
  ///   - metrics: Gets the figures.
  func callbacks(
    failed: @escaping @Sendable (ConnectError) -> Void, metrics: @escaping @Sendable (HTTPMetrics) -> Void
  ) -> ResponseCallbacks {
    let guardian = ExchangeGuardian { self.received(end: .internalError, ConnectError.abandoned(by: nil)) }
    return ResponseCallbacks(
      receiveResponseHeaders: { headers in
        self.unread.receive(headers, status: self.exchange?.status)
        self.wake()
      },
      receiveResponseData: { data in
        self.exchange?.flow.close()
        if !self.unread.receive(data) { failed(.tooMuchUnread) }
        self.wake()
      },
      receiveResponseMetrics: metrics,
      receiveClose: { code, _, error in
        guardian.exchangeEnded()
        self.received(end: code, error)
      })
  }

  private func received(end code: Code, _ error: (any Error)?) {
    unread.end(code, error)
    wake()
  }

  /// Drops what the hooks have not seen. The next result is the end.
  func end(with error: ConnectError) {
    isEnding.store(true, ordering: .releasing)
    unread.replace(with: .failed(error))
    wake()
  }

  /// Moves results into the hooks while these and the caller have room. Runs on the queue of the call.
  fileprivate func run() {
    while hasRoom, let (result, life) = unread.next() { raw.enter(result, life) }
    if unread.isOver { exchange?.isComplete = true }
    if unread.isRead { exchange?.flow.open() }
  }

  private var hasRoom: Bool {
    isEnding.load(ordering: .acquiring)
      || raw.held < maximumHeldValues && typed.held < maximumHeldValues && sink.count < maximumHeldValues
  }

  func close() {
    raw.close()
    typed.close()
    unread.close()
    exchange?.isComplete = true
    exchange?.flow.open()
  }
}

/// A weak reference to a path, because a wake-up must not keep it.
private final class WeakInward<Output: Sendable>: Sendable {
  private let reference = Mutex<Weak?>(nil)

  private struct Weak {
    weak var value: StreamInward<Output>?
  }

  var value: StreamInward<Output>? {
    get { reference.withLock { $0?.value } }
    set { reference.withLock { $0 = Weak(value: newValue) } }
  }
}

/// Notices when an HTTP client releases the callbacks of an exchange without ending it.
private final class ExchangeGuardian: Sendable {
  private let isEnded = Atomic<Bool>(false)
  private let wasLost: @Sendable () -> Void

  init(wasLost: @escaping @Sendable () -> Void) { self.wasLost = wasLost }

  deinit { if !isEnded.load(ordering: .acquiring) { wasLost() } }

  func exchangeEnded() { isEnded.store(true, ordering: .releasing) }
}

extension StreamResult<Data> {
  fileprivate func parsed<Message>(by parse: (Data) throws -> Message) throws -> StreamResult<Message> {
    switch self {
    case .headers(let headers): .headers(headers)
    case .message(let data): .message(try parse(data))
    case .complete(let code, let error, let trailers): .complete(code: code, error: error, trailers: trailers)
    }
  }
}

extension ConnectError {
  fileprivate static var tooMuchUnread: ConnectError {
    ConnectError(
      code: .resourceExhausted,
      message: "the HTTP client delivers faster than the results are read; it must wait, or maximumMessageBytes be raised")
  }
}
