internal import Carabiner
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Performs the actions of a session on one event loop.
final class SocketDriver: @unchecked Sendable {
  // Only the event loop uses the `var` properties.

  private let loop: any EventLoop
  let opening: SocketOpening
  private let logger = Logger(label: "carabiner.websocket")
  private let lastToken = Atomic<UInt64>(0)
  private var session: SocketSession
  private var queues: [SocketSession.Token: ResultQueue] = [:]
  private var progresses: [SocketSession.Token: SubscriptionProgress] = [:]
  private var timers: [SocketSession.Timer: Scheduled<Void>] = [:]
  private var connection: SocketConnection?
  /// The end of the connections that this side closed; nil if there was none.
  private var closing: EventLoopFuture<Void>?
  /// Operations with a full buffer. While there is one, nothing is read.
  private var crowded: Set<SocketSession.Token> = []
  private var isPerforming = false
  private var lastPhase = SocketSession.Phase.idle
  private var wasReady = false
  /// Gets the changes of the connection; nil for none.
  private let observer: (@Sendable (SocketChange) -> Void)?

  init(_ opening: SocketOpening, keepsConnection: Bool = false, observer: (@Sendable (SocketChange) -> Void)? = nil) {
    self.observer = observer
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.opening = opening
    var options = opening.configuration.session(url: opening.endpoint.url.absoluteString)
    options.keepsConnection = keepsConnection
    session = SocketSession(options)
  }

  // MARK: From any thread

  /// Starts an operation.
  ///
  /// - Throws: ``RequestChainError`` if it cannot be sent over a WebSocket.
  func start<Request: GraphQLRequest>(_ request: Request) throws -> SocketResults<Request.Operation> {
    start(
      request.operation.operationType, payload: try request.operationPayload(), progress: request.context.subscription,
      throwsErrors: request.operation.operationType == .subscription)
  }

  /// Starts an operation that is given as a JSON object.
  func start<Operation: GraphQLOperation>(
    _ type: GraphQLOperationType, payload: [UInt8], progress: SubscriptionProgress?, throwsErrors: Bool
  ) -> SocketResults<Operation> {
    let token = lastToken.add(1, ordering: .relaxed).newValue
    let queue = ResultQueue(
      maximumResults: opening.configuration.maximumBufferedResults, maximumBytes: opening.configuration.maximumBufferedBytes)
    loop.execute {
      self.queues[token] = queue
      self.progresses[token] = progress
      self.session.subscribe(token, type, payload: payload)
      self.perform()
    }
    let limits = ResponseLimits(
      maximumDepth: opening.configuration.maximumDepth, maximumMergedBytes: opening.configuration.maximumMergedBytes)
    return SocketResults(token, queue, self, ResultPayloads(type, limits: limits), throwsErrors: throwsErrors)
  }

  /// Ends an operation, unless it is over.
  func end(_ token: SocketSession.Token) {
    loop.execute {
      guard self.forget(token) else { return }
      self.session.unsubscribe(token)
      self.perform()
    }
  }

  /// Ends the operation with this id on the connection, if there is one. Its reader gets a `CancellationError`.
  func end(id: String) {
    loop.execute {
      guard let token = self.session.token(ofID: id) else { return }
      self.queues[token]?.cancel()
      _ = self.forget(token)
      self.session.unsubscribe(token)
      self.perform()
    }
  }

  /// Resumes reading for this operation.
  func resumeReading(for token: SocketSession.Token) {
    loop.execute { self.hasRoom(token) }
  }

  func pause() {
    loop.execute {
      self.session.pause()
      self.perform()
    }
  }

  func resume() {
    loop.execute {
      self.session.resume()
      self.perform()
    }
  }

  /// Opens a connection, also without operations.
  func open() {
    loop.execute {
      self.session.open()
      self.perform()
    }
  }

  /// Runs a body later.
  func schedule(in delay: Duration, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
    loop.scheduleTask(in: TimeAmount(delay), body)
  }

  /// Sets whether a lost connection is opened again.
  func setReconnects(_ reconnects: Bool) { loop.execute { self.session.options.reconnects = reconnects } }

  /// Sends a ping frame on an open connection, and calls `written` when it is written.
  func ping(_ data: [UInt8], written: @escaping @Sendable () -> Void) {
    loop.execute { self.connection?.ping(data, written: written) }
  }

  /// Opens a new connection with the current headers and payload.
  func reconnect() {
    loop.execute {
      self.session.reconnect()
      self.perform()
    }
  }

  func beginShutDown() {
    loop.execute { _ = self.closeDown() }
  }

  func shutDown() async {
    let closed = try? await loop.submit { self.closeDown() }.get()
    try? await closed?.get()
  }

  // MARK: On the loop

  private func closeDown() -> EventLoopFuture<Void>? {
    let connection = connection
    session.shutDown()
    perform()
    return connection?.closed
  }

  private func perform() {
    // An action may cause an event at once. Its actions run after the current ones.
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while true {
      let actions = session.takeActions()
      guard !actions.isEmpty else { break }
      for action in actions { perform(action) }
      connection?.flush()
    }
    if let observer { report(to: observer) }
  }

  /// Reports the change of the connection since the last call. A connection that never opened is not reported.
  private func report(to observer: (SocketChange) -> Void) {
    defer { lastPhase = session.phase }
    switch (lastPhase, session.phase) {
    case (.ready, .ready), (.initialising, .initialising): break
    case (_, .ready):
      observer(wasReady ? .reconnected : .connected)
      wasReady = true
    case (.ready, _), (.initialising, _): observer(.disconnected(session.loss))
    default: break
    }
  }

  private func perform(_ action: SocketSession.Action) {
    switch action {
    case .connect: connect()
    case .send(let text): connection?.send(text)
    case .answer(let text): connection?.answer(.message(text))
    case .ping: connection?.ping()
    case .close(let code, let reason):
      if let connection {
        connection.close(code, reason: reason)
        closing = closing?.flatMap { connection.closed } ?? connection.closed
      }
      connection = nil
    case .start(let timer, let delay):
      timers[timer]?.cancel()
      timers[timer] = loop.scheduleTask(in: TimeAmount(delay)) {
        self.timers[timer] = nil
        self.session.fired(timer)
        self.perform()
      }
    case .stop(let timer): timers.removeValue(forKey: timer)?.cancel()
    case .deliver(let token, let event): deliver(event, to: token)
    case .log(let line, let isWarning): logger.log(level: isWarning ? .warning : .debug, "\(line)")
    }
  }

  private func deliver(_ event: SocketSession.Event, to token: SocketSession.Token) {
    guard let queue = queues[token] else { return }
    switch event {
    case .state(let state): progresses[token]?.advance(to: state)
    case .result:
      guard queue.put(event) else { return }
      if crowded.isEmpty { pauseReading(true) }
      crowded.insert(token)
    case .errors, .complete, .failed:
      _ = queue.put(event)
      _ = forget(token)
    }
  }

  /// Releases an operation. Returns false if it was released before.
  private func forget(_ token: SocketSession.Token) -> Bool {
    progresses[token] = nil
    hasRoom(token)
    return queues.removeValue(forKey: token) != nil
  }

  private func hasRoom(_ token: SocketSession.Token) {
    guard crowded.remove(token) != nil, crowded.isEmpty else { return }
    pauseReading(false)
  }

  private func pauseReading(_ isPaused: Bool) {
    connection?.readsByItself(!isPaused)
    session.readingPaused(isPaused)
    perform()
  }

  // MARK: The connection

  private func connect() {
    let connection = SocketConnection(opening, loop) { [weak self] connection, event in
      // Events of an abandoned connection are ignored.
      guard let self, connection === self.connection else { return }
      take(event)
    }
    self.connection = connection
    guard let closing else { return open(connection) }
    // Opened only now, because a server may count connections, or give this one the credentials of the old one.
    closing.whenComplete { _ in
      if connection === self.connection { self.open(connection) }
    }
  }

  private func open(_ connection: SocketConnection) {
    guard let makePayload = opening.connectionPayload else { return connection.open(initialPayload: nil) }
    Task {
      do {
        let payload = try await makePayload().map { InitialPayload.text(of: $0) }
        loop.execute { connection.open(initialPayload: payload) }
      } catch {
        let failure = WebSocketError(
          .initialisationFailed, "the payload of connection_init could not be created: \(error); check its closure",
          url: opening.endpoint.url.absoluteString)
        loop.execute { connection.report(.failed(failure)) }
      }
    }
  }

  private func take(_ event: SocketConnection.Event) {
    switch event {
    case .opened(let payload):
      session.opened(initialPayload: payload)
      if !crowded.isEmpty { pauseReading(true) }
    case .text(let text): session.received(text)
    case .binary: session.receivedBinary()
    case .signOfLife: session.sawSignOfLife()
    case .violation(let code, let message, let closeCode): session.giveUp(code, message, closingWith: closeCode)
    case .closed(let code, let reason):
      connection = nil
      session.closed(code, reason: reason)
    case .failed(let error):
      connection = nil
      session.failed(error)
    }
    perform()
  }
}
