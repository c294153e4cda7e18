internal import CCurl
internal import Carabiner
internal import CarabinerHTTP1
internal import FoundationEssentials

/// Sends requests of HTTP/1.1 over connections that libcurl opens, without libcurl's cost for each transfer. Used only on the event
/// loop's thread.
///
/// libcurl resolves names, connects and speaks TLS. The engine keeps the connections for later requests.
@safe final class HTTP1Engine: @unchecked Sendable {
  // `CurlMulti` and the closures of `EventLoop.execute` use it on the loop's thread only. A check of each access by the runtime would
  // cost a tenth of a request.

  /// The maximum number of headers of a response.
  static let maximumHeaders = 5000
  /// How long a connection is kept idle, in nanoseconds: less than the two minutes after which many servers close theirs.
  private static let idleTime: UInt64 = 118 * 1_000_000_000
  /// No server closes connections after so short an idle time, in nanoseconds.
  private static let shortIdleTime: UInt64 = 500_000_000
  /// The maximum number of idle connections to all origins.
  private static let maximumIdleConnections = 256
  /// The maximum number of origins. Requests to others use libcurl.
  private static let maximumOrigins = 256
  /// How often a request is sent again. After the first time only over a new connection.
  private static let maximumRepeats = 5
  /// The maximum number of writers that are kept for the next requests, and the largest head after which one is kept, in bytes.
  private static let maximumSpareWriters = 64
  private static let maximumSpareBytes = 16 << 10
  /// The number of bytes that are received at once.
  private static let bufferBytes = 32 << 10

  private struct State: ~Copyable {
    var origins: [String: HTTP1Origin] = [:]
    var lastURL = ""
    var lastAddress: HTTP1Address?
    /// The running exchanges, waiting ones included. Each knows its index.
    var exchanges: [HTTP1Exchange] = []
    /// The open connections by descriptor.
    var connections: [HTTP1Connection?] = []
    /// The connections that libcurl is opening, by the address of the easy handle.
    var opening: [UInt: HTTP1Connection] = [:]
    /// The sockets that libcurl waits for, to open connections.
    var openingSockets: Set<Int32> = []
    var idleCount = 0
    /// The writers of exchanges that have ended. Their memory is used again.
    var spareWriters: [MessageWriter] = []
    /// When ``checkTimes(in:)`` must be called, in nanoseconds of the monotonic clock.
    var nextCheck = UInt64.max

    mutating func address(_ url: String) -> HTTP1Address? {
      if url != lastURL { (lastURL, lastAddress) = (url, HTTP1Address(url)) }
      return lastAddress
    }

    /// Schedules a check of the times, at this time or earlier.
    mutating func check(at time: UInt64) { nextCheck = min(nextCheck, time) }
  }

  private let configuration: CurlTransport.Configuration
  private let poll: Poll
  /// Opens and closes connections, and does nothing else: a transfer of libcurl must not count them, wait for them or close them.
  private let multi: MultiHandle
  private let counters: TransportCounters
  private let head: HTTP1RequestHead
  private let exchangeLimits: Exchange.Limits
  private let limits: HTTP1Limits
  private let buffer: UnsafeMutableRawBufferPointer

  @safe @exclusivity(unchecked) private var state = State()

  /// - Parameter configuration: Its proxy must be ``CurlTransport/Configuration/Proxy/none``.
  init(_ configuration: CurlTransport.Configuration, poll: Poll, counters: TransportCounters) throws {
    multi = try MultiHandle(poll: poll)
    self.configuration = configuration
    self.poll = poll
    self.counters = counters
    head = HTTP1RequestHead(userAgent: configuration.userAgent, acceptsCompression: configuration.acceptsCompression)
    exchangeLimits = Exchange.Limits(configuration)
    var limits = HTTP1Limits()
    limits.headBytes = configuration.maximumHeadBytes
    limits.fields = Self.maximumHeaders
    self.limits = limits
    unsafe buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
    unsafe multi.onSocket = { [unowned self] _, socket, isWatched in
      if isWatched { state.openingSockets.insert(socket) } else { state.openingSockets.remove(socket) }
    }
  }

  deinit { unsafe buffer.deallocate() }

  /// The number of running exchanges.
  var exchangeCount: Int { state.exchanges.count }

  // MARK: Requests

  /// How a request is sent.
  enum Route {
    case engine(HTTP1Exchange)
    /// Over libcurl. The origin learns the version of HTTP from the response; nil if it need not.
    case curl(HTTP1Origin?)
  }

  /// Decides whether a request can be sent here.
  ///
  /// - Parameters:
  ///   - server: The IP address of the server; nil to look up the host name.
  ///   - timeout: The timeout of the exchange in seconds; infinite for none.
  /// - Throws: ``Carabiner/TransportError`` for a header that is not valid.
  func route(_ request: URLRequest, at server: String?, timeout: Double) throws(TransportError) -> Route {
    switch request.body {
    case .data, nil: break
    case .segmented, .streamed: return .curl(nil)
    }
    guard let address = state.address(request.url.absoluteString), let origin = origin(address, at: server) else {
      return .curl(nil)
    }
    switch origin.version {
    case .unknown: return .curl(origin)
    case .other: return .curl(nil)
    case .http1: break
    }
    var writer = state.spareWriters.popLast() ?? MessageWriter()
    let bodyLength = request.body?.length ?? (request.httpMethod == "POST" ? 0 : nil)
    guard try head.write(request, to: address, bodyLength: bodyLength, into: &writer) else { return .curl(nil) }
    return .engine(
      HTTP1Exchange(
        request, head: writer, decodes: head.decodes(request), origin: origin, timeout: timeout, limits: exchangeLimits))
  }

  private func origin(_ address: HTTP1Address, at server: String?) -> HTTP1Origin? {
    let key = server.map { "\(address.origin) \($0)" } ?? address.origin
    if let origin = state.origins[key] { return origin }
    if state.origins.count >= Self.maximumOrigins {
      state.origins = state.origins.filter { !$0.value.isUnused }
      guard state.origins.count < Self.maximumOrigins else { return nil }
    }
    let origin = HTTP1Origin(address, at: server, offersHTTP2: configuration.allowsHTTP2)
    state.origins[key] = origin
    return origin
  }

  /// Starts an exchange.
  func start(_ exchange: HTTP1Exchange) {
    counters.requestBegan()
    exchange.place = state.exchanges.count
    state.exchanges.append(exchange)
    state.check(at: exchange.deadline)
    exchange.origin.waiting.append(exchange)
    serve(exchange.origin)
  }

  /// Aborts an exchange. Its connection is closed.
  func abort(_ exchange: HTTP1Exchange) {
    stop(exchange, .failure(CancellationError()))
  }

  /// Continues to receive after a pause.
  func resume(_ exchange: HTTP1Exchange) {
    guard let connection = exchange.connection, connection.isPaused else { return }
    if exchange.hasStoppedClock {
      exchange.runClock()
      state.check(at: exchange.deadline)
    }
    let progress = unsafe connection.resume(buffer: buffer)
    watch(connection)
    handle(progress, of: connection)
  }

  /// Ends all exchanges and closes all connections.
  func abortAll(_ error: TransportError) {
    while let exchange = state.exchanges.last {
      exchange.connection?.end()
      finish(exchange, .failure(error))
    }
    for connection in state.connections.compactMap(\.self) { close(connection) }
    for connection in state.opening.values { multi.remove(connection.easy) }
    state.opening = [:]
    for origin in state.origins.values { origin.removeAll() }
    state.origins = [:]
    state.idleCount = 0
  }

  /// Frees libcurl's handle. All connections must have been closed.
  func close() { multi.close() }

  // MARK: Connections

  /// Gives connections to the exchanges that wait, and opens more if there are too few.
  private func serve(_ origin: HTTP1Origin) {
    while let exchange = origin.waiting.peek() {
      if !exchange.needsNewConnection, let connection = takeIdle(origin) {
        begin(origin.waiting.take(), on: connection)
        continue
      }
      guard origin.connections.opening.count < origin.waiting.count else { return }
      let maximum = configuration.maximumConnectionsPerHost
      if maximum > 0, origin.connections.count >= maximum {
        guard let connection = origin.connections.idle.first else { return }
        removeIdle(connection)
      }
      open(origin)
    }
  }

  private func takeIdle(_ origin: HTTP1Origin) -> HTTP1Connection? {
    while let connection = origin.connections.idle.popLast() {
      state.idleCount -= 1
      let idle = MonotonicTime.now - connection.idleSince
      if idle < Self.idleTime, isOpen(connection, idleFor: idle) { return connection }
      close(connection)
    }
    return nil
  }

  /// Whether an idle connection is still open and its server has sent nothing.
  ///
  /// The loop's waits report both, which saves a system call per request. They do not report bytes that OpenSSL has read already.
  /// After a longer time, a server may close the connection between the last wait and the next request, which may not be sent twice.
  private func isOpen(_ connection: HTTP1Connection, idleFor time: UInt64) -> Bool {
    if time < Self.shortIdleTime, !connection.origin.isTLS, poll.hasReported(since: connection.idleSinceWait) { return true }
    return connection.isQuiet
  }

  private func open(_ origin: HTTP1Origin) {
    do {
      let easy = try EasyHandle(configuration)
      let connection = HTTP1Connection(easy, to: origin, limits: limits)
      easy.prepareConnection(to: origin.url, at: origin.server)
      origin.connections.opening.append(connection)
      origin.connections.count += 1
      unsafe state.opening[UInt(bitPattern: easy.handle)] = connection
      if !multi.add(easy) { unsafe opened(easy.handle, CURLE_FAILED_INIT) }
    } catch {
      if let exchange = origin.waiting.take() { finish(exchange, .failure(error)) }
    }
  }

  /// Takes the connections that libcurl has opened, or failed to open.
  func collectOpened() {
    guard !state.opening.isEmpty else { return }
    var code = CURLE_OK
    while let easy = unsafe multi.nextFinished(&code) { unsafe opened(easy, code) }
  }

  private func opened(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let connection = state.opening.removeValue(forKey: UInt(bitPattern: easy)) else { return }
    let origin = connection.origin
    origin.connections.opening.removeAll { $0 === connection }
    guard code == CURLE_OK, connection.opened() else {
      origin.connections.count -= 1
      // The others that are being opened may succeed.
      if origin.waiting.count > origin.connections.opening.count, let exchange = origin.waiting.take() {
        let failure = CurlFailure(
          code == CURLE_OK ? CURLE_GOT_NOTHING : code, of: connection.easy, request: exchange.request, isHeadComplete: false)
        finish(exchange, .failure(failure.error(sent: false, began: false)))
      }
      multi.remove(connection.easy)
      return serve(origin)
    }
    let index = Int(connection.socket)
    let missing = index + 1 - state.connections.count
    if missing > 0 { state.connections.append(contentsOf: repeatElement(nil, count: missing)) }
    state.connections[index] = connection
    if let exchange = origin.waiting.take() {
      begin(exchange, on: connection)
    } else {
      keep(connection)
    }
  }

  private func begin(_ exchange: HTTP1Exchange?, on connection: HTTP1Connection) {
    guard let exchange else { return keep(connection) }
    let progress = unsafe connection.begin(exchange, buffer: buffer)
    watch(connection)
    handle(progress, of: connection)
  }

  /// Waits for the events that the connection needs.
  private func watch(_ connection: HTTP1Connection) {
    let action = (connection.isPaused ? 0 : CURL_POLL_IN) | (connection.waitsToSend ? CURL_POLL_OUT : 0)
    if action == 0 { poll.forget(connection.socket) } else { poll.watch(connection.socket, curlAction: action) }
  }

  /// Keeps a connection for the next exchange.
  private func keep(_ connection: HTTP1Connection) {
    connection.isKept = true
    connection.idleSince = MonotonicTime.now
    connection.idleSinceWait = poll.begunWaits
    connection.origin.connections.idle.append(connection)
    state.idleCount += 1
    watch(connection)
    state.check(at: connection.idleSince + Self.idleTime)
    guard state.idleCount > Self.maximumIdleConnections else { return }
    let oldest = state.origins.values.compactMap { $0.connections.idle.first }.min { $0.idleSince < $1.idleSince }
    if let oldest { removeIdle(oldest) }
  }

  private func removeIdle(_ connection: HTTP1Connection) {
    guard let index = connection.origin.connections.idle.firstIndex(where: { $0 === connection }) else { return }
    connection.origin.connections.idle.remove(at: index)
    state.idleCount -= 1
    close(connection)
  }

  private func close(_ connection: HTTP1Connection) {
    state.connections[Int(connection.socket)] = nil
    connection.origin.connections.count -= 1
    multi.remove(connection.easy)
  }

  // MARK: Events

  /// Handles an event of a socket.
  ///
  /// - Returns: Whether the socket is one of the engine.
  func socketReady(_ event: Poll.Event) -> Bool {
    let index = Int(event.descriptor)
    guard index < state.connections.count, let connection = state.connections[index] else {
      guard state.openingSockets.contains(event.descriptor) else { return false }
      multi.socketReady(event)
      return true
    }
    guard connection.exchange != nil else {
      if !connection.isQuiet { removeIdle(connection) }
      return true
    }
    let isBroken = event.bits & CURL_CSELECT_ERR != 0
    let waited = connection.waitsToSend
    let progress = unsafe connection.proceed(
      canSend: isBroken || event.bits & CURL_CSELECT_OUT != 0, canReceive: isBroken || event.bits & CURL_CSELECT_IN != 0,
      buffer: buffer)
    if case .running = progress {
      if connection.isPaused || waited != connection.waitsToSend { watch(connection) }
    } else {
      handle(progress, of: connection)
    }
    return true
  }

  private func handle(_ progress: HTTP1Connection.Progress, of connection: HTTP1Connection) {
    guard let exchange = connection.exchange else { return }
    switch progress {
    case .running: break
    case .complete:
      let isReusable = connection.isReusable
      connection.end()
      finish(exchange, .success(()))
      if isReusable { keep(connection) } else { close(connection) }
      serve(connection.origin)
    case .lost(let reason):
      if !connection.responseBegan, exchange.mayBeRepeated, exchange.repeats < Self.maximumRepeats {
        repeatExchange(exchange)
      } else {
        stop(exchange, .failure(exchange.connectionLost(reason, began: connection.responseBegan)))
      }
    case .unreadable(let error): stop(exchange, .failure(exchange.unreadable(error)))
    case .refused(let error): stop(exchange, .failure(error))
    }
  }

  /// Sends a request again, because its connection ended before the response.
  private func repeatExchange(_ exchange: HTTP1Exchange) {
    if let connection = exchange.connection {
      connection.end()
      close(connection)
    }
    exchange.repeats += 1
    exchange.needsNewConnection = true
    exchange.origin.waiting.append(exchange)
    serve(exchange.origin)
  }

  /// Ends an exchange before its response is complete.
  private func stop(_ exchange: HTTP1Exchange, _ result: Result<Void, any Error>) {
    guard exchange.place != nil else { return }
    let origin = exchange.origin
    if let connection = exchange.connection {
      connection.end()
      close(connection)
    } else {
      origin.waiting.remove(exchange)
      // Otherwise clients that give up early would make connections without limit.
      while origin.connections.opening.count > origin.waiting.count, let connection = origin.connections.opening.popLast() {
        unsafe state.opening[UInt(bitPattern: connection.easy.handle)] = nil
        origin.connections.count -= 1
        multi.remove(connection.easy)
      }
    }
    finish(exchange, result)
    serve(origin)
  }

  /// Removes an exchange from the list; the last one moves to its index.
  private func finish(_ exchange: HTTP1Exchange, _ result: Result<Void, any Error>) {
    guard let place = exchange.place, let last = state.exchanges.popLast() else { return }
    counters.requestEnded(onKeptConnection: exchange.isOnKeptConnection)
    if last !== exchange {
      state.exchanges[place] = last
      last.place = place
    }
    exchange.place = nil
    exchange.end(result)
    if state.spareWriters.count < Self.maximumSpareWriters, exchange.head.count <= Self.maximumSpareBytes {
      state.spareWriters.append(exchange.takeHead())
    }
  }

  // MARK: Time

  /// When ``checkTimes()`` must be called, in nanoseconds of the monotonic clock.
  var due: UInt64 { min(state.nextCheck, multi.due) }

  /// Ends exchanges whose deadline is over, and closes connections that have been idle for long.
  ///
  /// The next time is computed only here. An exchange that ends earlier leaves a time at which nothing is due.
  func checkTimes() {
    multi.timeoutIfDue()
    guard state.nextCheck != .max else { return }
    let now = MonotonicTime.now
    guard state.nextCheck <= now else { return }
    for exchange in state.exchanges where exchange.due <= now {
      stop(exchange, .failure(exchange.timedOut))
    }
    for origin in state.origins.values {
      while let connection = origin.connections.idle.first, connection.idleSince + Self.idleTime <= now { removeIdle(connection) }
    }
    state.nextCheck = state.exchanges.reduce(.max) { min($0, $1.due) }
    for origin in state.origins.values {
      if let connection = origin.connections.idle.first { state.check(at: connection.idleSince + Self.idleTime) }
    }
  }
}
