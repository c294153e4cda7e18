internal import CCurl
internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// One request and its response, between the callbacks of libcurl and the consumer that awaits head and chunks.
///
/// libcurl calls on the thread of the loop. The consumer may be on any thread. A mutex protects their shared state. A
/// continuation is removed from the state before it is resumed, so it cannot be resumed twice. Every path of a transfer ends in
/// `end`, so each continuation is resumed. Checked continuations would need two allocations per wait.
final class Transfer: @unchecked Sendable {
  // Only the thread of the loop uses `easy`, `place`, the sockets, the lines of the head, the flags and the counters. The rest is in
  // `state`.

  typealias Step = PullStream<Data>.Step

  /// Continuations carry no value. The consumer reads the state after it is resumed.
  typealias Waiter = UnsafeContinuation<Void, Never>

  @safe private struct State {
    var head: HTTPURLResponse?
    var isHeadTaken = false
    var body = Data()
    /// Set when the transfer has ended.
    var end: Result<Void, any Error>?
    var waiter: Waiter?
    var isPaused = false

    var isReady: Bool { end != nil || !body.isEmpty || (head != nil && !isHeadTaken) }
  }

  /// The limits of a response.
  struct Limits {
    let headBytes: Int
    let bodyBytes: Int
    let bufferedBytes: Int

    init(_ configuration: CurlTransport.Configuration) {
      headBytes = configuration.maximumHeadBytes
      bodyBytes = configuration.maximumBodyBytes
      bufferedBytes = configuration.bufferedBodyBytes
    }
  }

  let easy: EasyHandle
  /// The position of the transfer in the list of its multi handle; nil if it is not in the list.
  var place: Int?
  /// The sockets that libcurl waits for in the name of this transfer, if it sends a stream; nil before the first one.
  private var sockets: Set<Int32>?
  private let request: URLRequest
  private let limits: Limits
  private let pool: EasyHandlePool
  private let state = Mutex(State())

  private var headLines = ResponseHeadReader()
  private var headBytes = 0
  private var bodyBytes = 0
  /// Whether the body is multipart, without a limit for the whole body.
  private var isEndless = false
  /// Whether libcurl is delivering the bytes that it held while the transfer was paused.
  ///
  /// These bytes are in memory already, so all of them are accepted. A small compressed body may expand to many megabytes, and
  /// libcurl would copy the remaining bytes again after each new pause.
  private var isTakingHeldBytes = false
  /// Whether libcurl is paused because the consumer is slow.
  private var isReceivingPaused = false
  /// Whether the server refused the request over HTTP/2, where libcurl would go on sending the body.
  private var isRefused = false
  /// The error with which a callback stopped libcurl.
  private var refusal: TransportError?

  init(
    _ request: URLRequest, easy: EasyHandle, limits: Limits, pool: EasyHandlePool
  ) {
    self.request = request
    self.easy = easy
    self.limits = limits
    self.pool = pool
  }

  // MARK: Callbacks of libcurl

  /// Whether the transfer has ended.
  var isOver: Bool { state.withLock { $0.end != nil } }

  /// Receives one line of a head, including the empty line at its end.
  func receiveHeadLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    headBytes += bytes.count
    guard headBytes <= limits.headBytes else {
      refusal = failure(
        .headTooLarge,
        "the head of the response is longer than \(limits.headBytes) bytes; check the server, or raise the limit "
          + "maximum-head")
      return 0
    }
    do {
      if let head = try unsafe headLines.read(bytes, url: request.url, version: easy.httpVersion) { headArrived(head) }
    } catch {
      refusal = failure(.invalidResponse, request.url.protocolViolation(error.reason))
      return 0
    }
    return bytes.count
  }

  private func headArrived(_ head: HTTPURLResponse) {
    // A subscription has no fixed end. The multipart parser limits each part, and the whole body is not kept.
    isEndless = request.takesParts && head.isMultipart
    if head.statusCode >= 300, head.httpVersion == .http2 { isRefused = true }
    wake { $0.head = head }
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard unsafe !bytes.isEmpty else { return 0 }
    guard isEndless || bodyBytes + bytes.count <= limits.bodyBytes else {
      refusal = failure(
        .bodyTooLarge,
        "the body of the response is longer than \(limits.bodyBytes) bytes after decompression; select fewer fields, or "
          + "raise the limit maximum-body")
      return 0
    }
    var isAccepted = true
    wake { state in
      if !isTakingHeldBytes, !state.body.isEmpty, state.body.count + bytes.count > limits.bufferedBytes {
        state.isPaused = true
        isAccepted = false
      } else {
        if state.body.isEmpty { unsafe state.body = Data(bytes) } else { unsafe state.body.append(contentsOf: bytes) }
      }
    }
    // libcurl keeps the bytes that it could not deliver, and delivers them when the transfer is resumed.
    guard isAccepted else {
      isReceivingPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    bodyBytes += bytes.count
    return bytes.count
  }

  /// Resumes libcurl after a pause.
  func resumeReceiving() -> CURLcode {
    isTakingHeldBytes = true
    isReceivingPaused = false
    defer { isTakingHeldBytes = false }
    return easy.resumeReceiving()
  }

  /// Resumes libcurl after a pause for want of bytes to send.
  func resumeSending() -> CURLcode { easy.resumeSending(isReceivingPaused: isReceivingPaused) }

  /// Ends the stream of the body if the server answered without waiting for it, or closed the connection.
  ///
  /// libcurl 7.88 stops to wait for the socket then, but keeps a transfer whose sending is paused.
  ///
  /// - Returns: Whether libcurl must be resumed.
  func endsStream() -> Bool {
    let receivesNoMore = sockets?.isEmpty == true && !isReceivingPaused
    // Over HTTP/2, transfers share a socket.
    guard isRefused || (receivesNoMore && easy.httpVersion != .http2), let feed = easy.feed, feed.isStarved else { return false }
    feed.stop(headLines.isComplete ? .success(()) : .failure(endedBeforeHead))
    return true
  }

  /// libcurl waits for a socket in the name of this transfer, or no longer.
  func socketChanged(_ socket: Int32, isWatched: Bool) {
    var watched = sockets ?? []
    if isWatched { watched.insert(socket) } else { watched.remove(socket) }
    sockets = watched
  }

  private var endedBeforeHead: TransportError {
    failure(
      .connectionLost,
      "the connection to \(request.url.host() ?? "?"):\(request.url.effectivePort) ended before a response, while the body was sent; "
        + "look at the server's log")
  }

  // MARK: The end

  func finish(_ code: CURLcode) {
    defer { giveBack() }
    guard code != CURLE_OK else { return end(headLines.isComplete ? .success(()) : .failure(endedInHead)) }
    let failure = CurlFailure(code, of: easy, request: request, isHeadComplete: headLines.isComplete)
    let ownFailure: (any Error)? = refusal ?? easy.bodyFailure
    end(.failure(ownFailure ?? failure.error(sent: easy.bytesSent > 0, began: headBytes > 0)))
  }

  /// libcurl treats a connection that ends between header lines as a complete response.
  private var endedInHead: TransportError {
    failure(
      .connectionLost,
      "the connection to \(request.url.host() ?? "?"):\(request.url.effectivePort) ended in the middle of the response's head; "
        + "check the server's log")
  }

  func aborted() {
    end(.failure(CancellationError()))
    giveBack()
  }

  func failed(_ error: TransportError) {
    end(.failure(error))
    giveBack()
  }

  private func giveBack() {
    unsafe easy.setContext(nil)
    easy.dropBody()
    if easy.isReusable(after: request) { pool.giveBack(easy) }
  }

  private func end(_ result: Result<Void, any Error>) {
    wake { state in
      if state.end == nil { state.end = result }
    }
  }

  /// Changes the state and resumes the consumer.
  private func wake(_ change: (inout State) -> Void) {
    let waiter = unsafe state.withLock { state in
      change(&state)
      guard state.isReady else { return unsafe nil as Waiter? }
      defer { unsafe state.waiter = nil }
      return unsafe state.waiter
    }
    unsafe waiter?.resume()
  }

  private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
    TransportError(
      code, message, url: request.url.absoluteString, mayHaveBeenSent: true, responseBegan: headBytes > 0)
  }

  // MARK: The awaiting side

  /// Returns the head or throws the error; nil if neither is known yet.
  func head() throws -> HTTPURLResponse? {
    try state.withLock { state in
      if state.head == nil, case .failure(let error) = state.end { throw error }
      state.isHeadTaken = state.head != nil
      return state.head
    }
  }

  /// Returns the bytes since the last call, and waits if there are none.
  ///
  /// - Parameter resume: Called if the transfer was paused because its buffer was full.
  func nextChunk(resume: () -> Void) async throws -> Step {
    while true {
      if let step = try takeReady(resume: resume) { return step }
      unsafe await withUnsafeContinuation { unsafe wakeWhenReady($0) }
    }
  }

  /// Resumes `waiter` once an unread head, body byte or end is available.
  func wakeWhenReady(_ waiter: Waiter) {
    let isReady = state.withLock { state in
      if !state.isReady { unsafe state.waiter = unsafe waiter }
      return state.isReady
    }
    if isReady { unsafe waiter.resume() }
  }

  private func takeReady(resume: () -> Void) throws -> Step? {
    var wasPaused = false
    let ready: Result<Step, any Error>? = state.withLock { state in
      wasPaused = state.isPaused
      state.isPaused = false
      return Self.ready(&state)
    }
    if wasPaused { resume() }
    return try ready?.get()
  }

  /// The available bytes. The last of them include the end, unless it is an error, which is returned after them.
  private static func ready(_ state: inout State) -> Result<Step, any Error>? {
    guard state.body.isEmpty else {
      var chunk = Data()
      swap(&chunk, &state.body)
      if case .success = state.end { return .success(.last(chunk)) }
      return .success(.element(chunk))
    }
    switch state.end {
    case .success: return .success(.end)
    case .failure(let error): return .failure(error)
    case nil: return nil
    }
  }
}
