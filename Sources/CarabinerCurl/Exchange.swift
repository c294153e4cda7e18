internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// One request and its response, between an engine on the loop's thread and the consumer that awaits head and chunks.
///
/// The engine calls on the thread of the loop. The consumer may be on any thread. A mutex protects their shared state. A
/// continuation is removed from the state before it is resumed, so it cannot be resumed twice. Every path of an exchange ends in
/// `end`, so each continuation is resumed. Checked continuations would need two allocations per wait.
class Exchange: @unchecked Sendable {
  // Only the thread of the loop uses the counters. The rest is in `state`.

  typealias Step = PullStream<Data>.Step

  /// Continuations carry no value. The consumer reads the state after it is resumed.
  typealias Waiter = UnsafeContinuation<Void, Never>

  @safe private struct State {
    var head: HTTPURLResponse?
    var isHeadTaken = false
    var body = Data()
    /// Set when the exchange has ended.
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
    /// The maximum number of bytes that wait for the consumer. One read of a compressed body may become far more than are buffered.
    var unreadBytes: Int { max(bodyBytes, 4 * bufferedBytes) }

    init(_ configuration: CurlTransport.Configuration) {
      headBytes = configuration.maximumHeadBytes
      bodyBytes = configuration.maximumBodyBytes
      bufferedBytes = configuration.bufferedBodyBytes
    }
  }

  /// How a part of a body is passed to a consumer that is slow.
  enum Overflow {
    /// The part is not taken if there is no room. The engine keeps it.
    case refused
    /// The part is taken, and the engine should read no more.
    case taken
    /// The part is taken.
    case ignored
  }

  let request: URLRequest
  let limits: Limits
  private let state = Mutex(State())
  private var bodyBytes = 0
  /// The number of bytes above which the consumer is slow.
  private var bufferedBytes: Int
  /// The same for a body that is passed on. Such bytes are in no limit for what a client does not read.
  private static let passedBufferBytes = 32 << 10
  /// Whether the body is multipart, without a limit for the whole body.
  private var isEndless = false

  init(_ request: URLRequest, limits: Limits) {
    self.request = request
    self.limits = limits
    bufferedBytes = limits.bufferedBytes
  }

  /// Aborts the exchange. Engines override this.
  func abort(in multi: CurlMulti) {}

  /// Continues to read after a pause for a slow consumer. Engines override this.
  func resume(in multi: CurlMulti) {}

  /// Whether the timeout is that of a clock which can be stopped. That of libcurl cannot.
  var hasClock: Bool { false }

  /// The length of the body, set before the head is delivered; nil if it is not known.
  var declaredLength: Int? { nil }

  /// The body is passed on: few bytes are read ahead. Engines with a clock stop it while the buffer is full.
  func beginPassing() { bufferedBytes = min(bufferedBytes, Self.passedBufferBytes) }

  // MARK: The engine

  /// Whether the exchange has ended.
  var isOver: Bool { state.withLock { $0.end != nil } }

  /// Passes the head of the response to the consumer.
  func deliver(_ head: HTTPURLResponse) {
    // A subscription has no fixed end. The parser limits each part or event, and the whole body is not kept.
    isEndless = request.takesParts && (head.isMultipart || head.isEventStream && request.acceptsEvents)
    wake { $0.head = head }
  }

  /// Passes a part of the body to the consumer.
  ///
  /// - Returns: Whether the engine may go on. If not, ``resume(in:)`` is called once the consumer has taken what it has.
  /// - Throws: ``Carabiner/TransportError`` if the body is too large.
  func deliver(_ bytes: UnsafeRawBufferPointer, overflow: Overflow) throws(TransportError) -> Bool {
    guard isEndless || bodyBytes + bytes.count <= limits.bodyBytes else { throw bodyTooLarge }
    var mayContinue = true
    var isTooLarge = false
    let likely = likelyBytes(bytes.count)
    wake { state in
      // Unread bytes are limited even if the whole body is not.
      isTooLarge = state.body.count + bytes.count > limits.unreadBytes
      if isTooLarge { return }
      if overflow != .ignored, !state.body.isEmpty, state.body.count + bytes.count > bufferedBytes {
        state.isPaused = true
        mayContinue = false
        if overflow == .refused { return }
      }
      guard state.body.isEmpty, likely == bytes.count else {
        if state.body.isEmpty { state.body = Data(capacity: likely) }
        return unsafe state.body.append(contentsOf: bytes)
      }
      unsafe state.body = Data(bytes)
    }
    guard !isTooLarge else { throw bodyTooLarge }
    if mayContinue || overflow != .refused { bodyBytes += bytes.count }
    return mayContinue
  }

  /// The most bytes for which memory is reserved. The declared length is the word of a server.
  private static let reservedBytes = 128 << 10

  /// The number of bytes that the consumer is likely to take at once, if `count` bytes have arrived.
  private func likelyBytes(_ count: Int) -> Int {
    guard let length = declaredLength else { return count }
    return max(count, min(length - bodyBytes, bufferedBytes, Self.reservedBytes))
  }

  var bodyTooLarge: TransportError {
    failure(
      .bodyTooLarge,
      "the body of the response is longer than \(limits.bodyBytes) bytes after decompression; select fewer fields, or "
        + "raise the limit maximum-body", responseBegan: true)
  }

  /// Ends the exchange. Later ends are ignored.
  func end(_ result: Result<Void, any Error>) {
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

  func failure(_ code: TransportError.Code, _ message: String, sent: Bool = true, responseBegan: Bool) -> TransportError {
    TransportError(code, message, url: request.url.absoluteString, mayHaveBeenSent: sent, responseBegan: responseBegan)
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
  /// - Parameter resume: Called if the exchange was paused because its buffer was full.
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

  /// Returns the bytes since the last call, or the end; nil if there are none yet.
  ///
  /// - Parameter resume: Called if the exchange was paused because its buffer was full.
  func takeReady(resume: () -> Void) throws -> Step? {
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
