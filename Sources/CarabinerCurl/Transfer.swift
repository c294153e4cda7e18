internal import CCurl
internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// One request and its response, between libcurl's callbacks and whoever awaits head and chunks.
///
/// libcurl calls on the loop's thread; the awaiting side may be anywhere. What both touch is behind one mutex, and a
/// continuation leaves it before it is resumed, so none can be resumed twice; every path of a transfer ends in `end`, so none
/// is forgotten. What a checked continuation would check, at two allocations a wait, is checked by that.
final class Transfer: @unchecked Sendable {
  // `easy`, `place` and the head's lines are touched by the loop's thread alone; everything else is in `state`.

  typealias Step = PullStream<Data>.Step

  @safe private enum Waiter {
    case head(UnsafeContinuation<HTTPURLResponse, any Error>)
    case chunk(UnsafeContinuation<Step, any Error>)
  }

  private struct State {
    var head: HTTPURLResponse?
    var body = Data()
    /// Set once nothing more will come.
    var end: Result<Void, any Error>?
    var waiter: Waiter?
    var isPaused = false
  }

  /// What a response may take.
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
  /// Where the transfer stands in its multi handle's list; nil if it is not in it.
  var place: Int?
  private let request: URLRequest
  private let limits: Limits
  private let pool: EasyHandlePool
  private let state = Mutex(State())

  private var headLines = ResponseHeadReader()
  private var headBytes = 0
  private var bodyBytes = 0
  /// Why a callback told libcurl to stop.
  private var refusal: TransportError?

  init(
    _ request: URLRequest, easy: EasyHandle, limits: Limits, pool: EasyHandlePool
  ) {
    self.request = request
    self.easy = easy
    self.limits = limits
    self.pool = pool
  }

  // MARK: What libcurl brings

  /// Whether nothing more will come.
  var isOver: Bool { state.withLock { $0.end != nil } }

  /// One line of a head, the empty one at its end included.
  func receiveHeadLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    headBytes += bytes.count
    guard headBytes <= limits.headBytes else {
      refusal = failure(
        .headTooLarge,
        "the head of the response is longer than \(limits.headBytes) bytes; look at the server, or raise the limit "
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
    let waiter: UnsafeContinuation<HTTPURLResponse, any Error>? = unsafe state.withLock { state in
      guard state.head == nil else { return nil }
      state.head = head
      guard case .head(let waiter) = state.waiter else { return nil }
      state.waiter = nil
      return unsafe waiter
    }
    unsafe waiter?.resume(returning: head)
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard unsafe !bytes.isEmpty else { return 0 }
    guard bodyBytes + bytes.count <= limits.bodyBytes else {
      refusal = failure(
        .bodyTooLarge,
        "the body of the response is longer than \(limits.bodyBytes) bytes after decompression; ask for less, or "
          + "raise the limit maximum-body")
      return 0
    }
    var waiter: UnsafeContinuation<Step, any Error>?
    var chunk = Data()
    let isAccepted = state.withLock { state in
      if !state.body.isEmpty, state.body.count + bytes.count > limits.bufferedBytes {
        state.isPaused = true
        return false
      }
      if state.body.isEmpty { unsafe state.body = Data(bytes) } else { unsafe state.body.append(contentsOf: bytes) }
      if case .chunk(let waiting) = state.waiter {
        unsafe waiter = unsafe waiting
        state.waiter = nil
        swap(&chunk, &state.body)
      }
      return true
    }
    // libcurl keeps what it could not deliver and brings it again once the transfer is resumed.
    guard isAccepted else { return Int(CURL_WRITEFUNC_PAUSE) }
    bodyBytes += bytes.count
    unsafe waiter?.resume(returning: .element(chunk))
    return bytes.count
  }

  // MARK: The end

  func finish(_ code: CURLcode) {
    defer { giveBack() }
    guard code != CURLE_OK else { return end(headLines.isComplete ? .success(()) : .failure(endedInHead)) }
    let failure = CurlFailure(code, of: easy, request: request, isHeadComplete: headLines.isComplete)
    end(.failure(refusal ?? failure.error(sent: easy.bytesSent > 0, began: headBytes > 0)))
  }

  /// libcurl takes a connection that ends between header lines for a complete response.
  private var endedInHead: TransportError {
    failure(
      .connectionLost,
      "the connection to \(request.url.host() ?? "?"):\(request.url.effectivePort) ended in the middle of the response's head; "
        + "look at the server's log")
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
    if easy.isReusable(after: request) { pool.giveBack(easy) }
  }

  private func end(_ result: Result<Void, any Error>) {
    var body = Data()
    let waiter: Waiter? = state.withLock { state in
      guard state.end == nil else { return nil }
      state.end = result
      guard let waiter = state.waiter else { return nil }
      state.waiter = nil
      if case .chunk = waiter { swap(&body, &state.body) }
      return waiter
    }
    switch (waiter, result) {
    case (nil, _): break
    case (.head(let waiter), .failure(let error)): unsafe waiter.resume(throwing: error)
    case (.head(let waiter), .success): unsafe waiter.resume(throwing: CancellationError())
    case (.chunk(let waiter), .success): unsafe waiter.resume(returning: body.isEmpty ? .end : .last(body))
    case (.chunk(let waiter), .failure(let error)): unsafe waiter.resume(throwing: error)
    }
  }

  private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
    TransportError(
      code, message, url: request.url.absoluteString, mayHaveBeenSent: true, responseBegan: headBytes > 0)
  }

  // MARK: The awaiting side

  /// Waits for the head.
  func head() async throws -> HTTPURLResponse {
    unsafe try await withUnsafeThrowingContinuation { continuation in
      let ready: Result<HTTPURLResponse, any Error>? = state.withLock { state in
        if let head = state.head { return .success(head) }
        if case .failure(let error) = state.end { return .failure(error) }
        state.waiter = unsafe .head(continuation)
        return nil
      }
      if let ready { unsafe continuation.resume(with: ready) }
    }
  }

  /// What has arrived since the last call, or the next thing that arrives.
  ///
  /// - Parameter resume: Called if the transfer was paused because nobody took its bytes.
  func nextChunk(resume: () -> Void) async throws -> Step {
    if let step = try takeReady(resume: resume) { return step }
    return unsafe try await withUnsafeThrowingContinuation { continuation in
      let ready: Result<Step, any Error>? = state.withLock { state in
        if let step = Self.ready(&state) { return step }
        state.waiter = unsafe .chunk(continuation)
        return nil
      }
      if let ready { unsafe continuation.resume(with: ready) }
    }
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

  /// The bytes at hand; with the last of them the end, unless it is an error, which comes after them.
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
