package import CarabinerWire
package import FoundationEssentials

/// The client's side of GraphQL over WebSocket: events go in, actions come out. It does no I/O.
///
/// One session lives as long as its transport, over all connections. Its owner carries out the ``Action``s in order and calls it from
/// one thread at a time.
package struct SocketSession {
  private struct Operation {
    let type: GraphQLOperationType
    let payload: [UInt8]
    /// The id of the operation on the connection; nil while it waits.
    var id: String?
    var hasResults = false
  }

  package var options: Options
  /// The state of the connection.
  package private(set) var phase = Phase.idle
  /// The error that ended the last connection; nil if this side closed it in good order.
  package private(set) var loss: WebSocketError?
  private var operations: [Token: Operation] = [:]
  private var tokens: [String: Token] = [:]
  /// The number of ids so far. No id is used twice, also not for an operation that is sent again.
  private var lastID: UInt64 = 0
  /// The number of attempts since the last connection that worked.
  private var attempts = 0
  private var isPongDue = false
  private var isReadingPaused = false
  private var isPaused = false
  var actions: [Action] = []

  /// A session without a connection.
  package init(_ options: Options) { self.options = options }

  /// The actions since the last call.
  package mutating func takeActions() -> [Action] {
    defer { actions.removeAll(keepingCapacity: true) }
    return actions
  }

  // MARK: Operations

  /// Starts an operation, or queues it until the connection is open.
  ///
  /// - Parameter payload: The operation as a JSON object.
  package mutating func subscribe(_ token: Token, _ type: GraphQLOperationType, payload: [UInt8]) {
    guard phase != .ended else {
      return actions.append(
        .deliver(token, .failed(error(.shutDown, "the WebSocket transport was shut down; make another one"))))
    }
    guard phase == .ready || operations.count < options.maximumWaitingOperations else {
      return actions.append(
        .deliver(
          token,
          .failed(
            error(
              .tooManyOperations,
              "\(operations.count) operations already wait for the WebSocket; check why it does not open, or raise the limit"))))
    }
    if operations.isEmpty { actions.append(.stop(.idle)) }
    operations[token] = Operation(type: type, payload: payload)
    switch phase {
    case .idle: connect()
    case .ready: send(token)
    case .connecting, .initialising, .waiting, .ended: break
    }
  }

  /// Ends an operation, if it has not ended already.
  package mutating func unsubscribe(_ token: Token) {
    guard let operation = operations[token] else { return }
    if let id = operation.id, phase == .ready { send(.complete(id: id)) }
    remove(token)
  }

  /// Ends all operations and the connection permanently.
  package mutating func shutDown() {
    guard phase != .ended else { return }
    let isOpen = phase == .ready || phase == .initialising
    loss = nil
    for (token, operation) in operations.sorted(by: { $0.key < $1.key }) {
      if let id = operation.id, phase == .ready { send(.complete(id: id)) }
      actions.append(.deliver(token, .failed(error(.shutDown, "the WebSocket transport was shut down"))))
    }
    operations = [:]
    tokens = [:]
    stopTimers()
    if isOpen { send(.terminate) }
    if isOpen || phase == .connecting { actions.append(.close(.normal, reason: "")) }
    phase = .ended
  }

  /// Opens a connection, also without operations.
  package mutating func open() {
    if phase == .idle { connect() }
  }

  /// The operation with this id on the connection; nil if there is none.
  package func token(ofID id: String) -> Token? { tokens[id] }

  private var needsConnection: Bool { !operations.isEmpty || options.keepsConnection }

  private mutating func connect() {
    guard !isPaused else { return }
    phase = .connecting
    actions.append(.connect)
  }

  private mutating func send(_ token: Token) {
    lastID += 1
    let id = options.idCreator?.requestId() ?? String(lastID)
    guard tokens[id] == nil else {
      let text = "the creator of ids returned \(id.prefix(100).debugDescription) for two operations; make each id once"
      return fail(token, error(.subscriberExists, text))
    }
    tokens[id] = token
    operations[token]?.id = id
    guard let payload = operations[token]?.payload else { return }
    send(.subscribe(id: id, payload: payload))
    actions.append(.deliver(token, .state(.active)))
  }

  private mutating func send(_ message: ClientMessage) {
    if let text = message.text(options.dialect) { actions.append(.send(text)) }
  }

  private mutating func remove(_ token: Token) {
    if let id = operations.removeValue(forKey: token)?.id { tokens[id] = nil }
    guard !needsConnection else { return }
    switch phase {
    case .ready: actions.append(.start(.idle, options.idleTimeout))
    case .waiting:
      actions.append(.stop(.reconnect))
      attempts = 0
      phase = .idle
    case .idle, .connecting, .initialising, .ended: break
    }
  }

  // MARK: The connection

  /// A connection is open and both sides agree on the protocol.
  ///
  /// - Parameter payload: The payload of `connection_init`; nil for none.
  package mutating func opened(initialPayload payload: [UInt8]?) {
    guard phase == .connecting else { return }
    phase = .initialising
    send(.initialise(payload: payload))
    actions.append(.start(.acknowledgement, options.acknowledgementTimeout))
  }

  /// The connection could not be opened, or this side dropped it.
  package mutating func failed(_ error: WebSocketError) {
    guard phase != .idle, phase != .ended, phase != .waiting else { return }
    lost(error)
  }

  /// The server closed the connection, or it ended.
  package mutating func closed(_ code: WebSocketCloseCode, reason: String) {
    failed(.closed(code, reason: reason, url: options.url))
  }

  /// Whether reading is paused, so that no answer can arrive.
  package mutating func readingPaused(_ isPaused: Bool) {
    isReadingPaused = isPaused
    guard isPaused, isPongDue else { return }
    isPongDue = false
    actions.append(.stop(.pong))
    startPing()
  }

  /// Closes the connection. Operations wait until ``resume()``.
  package mutating func pause() {
    guard !isPaused, phase != .ended else { return }
    isPaused = true
    disconnect("the WebSocket was paused")
  }

  /// Opens a connection again, if operations wait for one.
  package mutating func resume() {
    guard isPaused else { return }
    isPaused = false
    if phase == .idle, needsConnection { connect() }
  }

  /// Closes the connection and opens another one for the running operations.
  package mutating func reconnect() {
    disconnect("the WebSocket was opened again with other headers")
    if phase == .idle, needsConnection { connect() }
  }

  private mutating func disconnect(_ reason: String) {
    guard phase != .idle, phase != .ended else { return }
    let isWaiting = phase == .waiting
    loss = nil
    stopTimers()
    if phase == .ready || phase == .initialising { send(.terminate) }
    putBack(error(.connectionLost, reason))
    for token in operations.keys.sorted() { actions.append(.deliver(token, .state(.reconnecting))) }
    if !isWaiting { actions.append(.close(.normal, reason: "")) }
    attempts = 0
    phase = .idle
  }

  /// Queues the operations that were sent for the next connection. Those that cannot be sent again fail.
  private mutating func putBack(_ error: WebSocketError) {
    tokens = [:]
    for token in operations.keys.sorted() {
      guard let operation = operations[token], operation.id != nil else { continue }
      if operation.type == .mutation {
        fail(token, error.ofSentMutation())
      } else if operation.type == .query, operation.hasResults {
        fail(token, error.ofBegunQuery())
      } else {
        operations[token]?.id = nil
      }
    }
  }

  private mutating func lost(_ error: WebSocketError) {
    let wasReady = phase == .ready
    loss = error
    stopTimers()
    putBack(error)
    let mayReconnect =
      options.reconnects && !error.isFatal && (wasReady || attempts > 0) && attempts < options.reconnection.maximumAttempts
    guard mayReconnect, needsConnection else {
      let last = error.afterReconnects(attempts)
      for token in operations.keys.sorted() { fail(token, last) }
      attempts = 0
      phase = .idle
      return
    }
    attempts += 1
    phase = .waiting
    let delay = options.reconnection.delay(beforeAttempt: attempts)
    actions.append(
      .log(
        "\(error); connecting again in \(delay), attempt \(attempts) of \(options.reconnection.maximumAttempts)", isWarning: true)
    )
    for token in operations.keys.sorted() { actions.append(.deliver(token, .state(.reconnecting))) }
    actions.append(.start(.reconnect, delay))
  }

  private mutating func fail(_ token: Token, _ error: WebSocketError) {
    operations[token] = nil
    actions.append(.deliver(token, .failed(error)))
  }

  private mutating func stopTimers() {
    isPongDue = false
    isReadingPaused = false
    for timer in Timer.allCases { actions.append(.stop(timer)) }
  }

  // MARK: Messages

  /// A text message arrived.
  package mutating func received(_ text: Data) {
    sawSignOfLife()
    let message: ServerMessage
    do throws(ServerMessage.Fault) {
      message = try ServerMessage(reading: text.span, options.dialect, limits: options.json)
    } catch {
      // A server may speak a newer version of the protocol.
      if case .unknownType = error { return actions.append(.log("a message is ignored: \(error)", isWarning: true)) }
      let head = String(decoding: text.prefix(100), as: UTF8.self).debugDescription
      return giveUp(
        .invalidMessage,
        "a message of the server is malformed: \(error); it begins with \(head). Check that the endpoint supports "
          + "\(options.dialect.rawValue)", closingWith: .badResponse)
    }
    let payload = message.payload.map { text[(text.startIndex + $0.lowerBound)..<(text.startIndex + $0.upperBound)] }
    switch message.kind {
    case .acknowledged: acknowledged()
    case .refused:
      let words = payload.map { String(decoding: $0.prefix(200), as: UTF8.self) } ?? "it gave no reason"
      giveUp(
        .initialisationRefused, "the server refused connection_init: \(words); check its payload and the headers",
        closingWith: .normal)
    case .ping:
      let pong = ClientMessage.pong(payload: payload.map { [UInt8]($0) })
      if let text = pong.text(options.dialect) { actions.append(.answer(text)) }
    case .pong: break
    case .next, .errors, .complete: deliver(message, payload)
    }
  }

  /// A binary message arrived, which the protocol does not allow.
  package mutating func receivedBinary() {
    giveUp(
      .invalidMessage,
      "the server sent a binary message, but GraphQL over WebSocket uses only text; check that the endpoint supports "
        + options.dialect.rawValue, closingWith: .unacceptableData)
  }

  /// Ends a connection that breaks the protocol, without another attempt.
  package mutating func giveUp(_ code: WebSocketError.Code, _ message: String, closingWith closeCode: WebSocketCloseCode) {
    guard phase == .ready || phase == .initialising else { return }
    actions.append(.close(closeCode, reason: code.rawValue))
    lost(error(code, message))
  }

  private mutating func acknowledged() {
    guard phase == .initialising else {
      return actions.append(.log("the server acknowledged the connection twice; the second message is ignored", isWarning: true))
    }
    phase = .ready
    actions.append(.stop(.acknowledgement))
    if attempts > 0 { actions.append(.start(.stable, WebSocketReconnection.stableAfter)) }
    startPing()
    for token in operations.keys.sorted() { send(token) }
    if !needsConnection { actions.append(.start(.idle, options.idleTimeout)) }
  }

  private mutating func deliver(_ message: ServerMessage, _ payload: Data?) {
    guard let id = message.id, let token = tokens[id] else {
      // Results of an operation that has just ended may still arrive.
      let isOld = options.idCreator != nil || message.id.flatMap { UInt64($0) }.map { $0 > 0 && $0 <= lastID } ?? false
      return actions.append(
        .log(
          "a message for the unknown operation \((message.id ?? "").prefix(100).debugDescription) is ignored", isWarning: !isOld))
    }
    switch message.kind {
    case .next:
      operations[token]?.hasResults = true
      actions.append(.deliver(token, .result(payload ?? Data())))
    case .errors:
      actions.append(.deliver(token, .errors(payload ?? Data())))
      remove(token)
    default:
      actions.append(.deliver(token, .complete))
      remove(token)
    }
  }

  // MARK: Time

  /// A timer fired.
  package mutating func fired(_ timer: Timer) {
    switch timer {
    case .acknowledgement:
      guard phase == .initialising else { return }
      actions.append(.close(.acknowledgementTimeout, reason: "Connection acknowledgement timeout"))
      lost(
        error(
          .acknowledgementTimeout,
          "the server did not acknowledge within \(options.acknowledgementTimeout); check that it supports "
            + "\(options.dialect.rawValue), or raise the acknowledgement timeout"))
    case .ping:
      guard phase == .ready, !isPongDue else { return }
      guard !isReadingPaused else { return startPing() }
      if options.dialect == .graphQLTransportWS { send(.ping(payload: nil)) } else { actions.append(.ping) }
      isPongDue = true
      actions.append(.start(.pong, options.pongTimeout))
    case .pong:
      guard phase == .ready, isPongDue else { return }
      actions.append(.close(.goingAway, reason: "no answer to a ping"))
      lost(
        error(
          .keepAliveTimeout,
          "the server did not answer a ping within \(options.pongTimeout); check the server, or raise the pong timeout"))
    case .reconnect:
      guard phase == .waiting else { return }
      phase = .connecting
      actions.append(.connect)
    case .stable: attempts = 0
    case .idle:
      guard phase == .ready, !needsConnection else { return }
      loss = nil
      stopTimers()
      send(.terminate)
      actions.append(.close(.normal, reason: ""))
      attempts = 0
      phase = .idle
    }
  }

  /// Any frame arrived from the server.
  package mutating func sawSignOfLife() {
    guard isPongDue else { return }
    isPongDue = false
    actions.append(.stop(.pong))
    startPing()
  }

  private mutating func startPing() {
    if let interval = options.pingInterval { actions.append(.start(.ping, interval)) }
  }

  private func error(_ code: WebSocketError.Code, _ message: String) -> WebSocketError {
    WebSocketError(code, message, url: options.url)
  }
}
