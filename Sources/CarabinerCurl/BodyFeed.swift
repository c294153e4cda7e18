internal import CCurl
internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The chunks of a streamed body, between the task that pulls them and libcurl, which asks for bytes on the loop's thread.
///
/// There is one chunk at a time. The next is pulled when libcurl has taken the last byte. While there is none, libcurl is paused.
final class BodyFeed: Sendable {
  private struct State {
    /// The bytes of the current chunk that libcurl has not taken.
    var chunk = Data()
    /// Set when no more chunks follow.
    var end: Result<Void, any Error>?
    /// Whether libcurl has asked for bytes. Nothing is pulled before.
    var isWanted = false
    /// Whether libcurl is paused because there are no bytes.
    var isStarved = false
    /// Whether libcurl got a byte or the end.
    var hasGiven = false
    /// The error that stops the transfer.
    var failure: (any Error)?
    var isClosed = false
    /// Resumed with true when a chunk is needed, and with false when the feed is closed.
    var puller: CheckedContinuation<Bool, Never>?
    var task: Task<Void, Never>?
    var transfer: Transfer?

    var needsChunk: Bool { isWanted && chunk.isEmpty && end == nil }

    mutating func takePuller() -> CheckedContinuation<Bool, Never>? {
      defer { puller = nil }
      return puller
    }
  }

  private let loop: EventLoop
  private let url: String
  private let state = Mutex(State())

  private init(loop: EventLoop, url: String) {
    self.loop = loop
    self.url = url
  }

  /// The feed of a request whose body is a stream; nil for other bodies. It must be closed in the end.
  ///
  /// The chunks are pulled in a task with the task-locals of the caller.
  ///
  /// - Throws: ``Carabiner/TransportError`` if the body was sent before.
  static func pulling(_ request: URLRequest, for loop: EventLoop) throws(TransportError) -> BodyFeed? {
    guard case .streamed(let body)? = request.body else { return nil }
    let feed = BodyFeed(loop: loop, url: request.url.absoluteString)
    guard !body.wasTaken else { throw feed.sentBefore }
    let task = Task { await feed.pull(body) }
    feed.state.withLock { $0.task = task }
    return feed
  }

  private var sentBefore: TransportError {
    TransportError(
      .bodyNotRepeatable,
      "the body is a stream that was sent before, and cannot be sent again; repeat the request with a new stream", url: url,
      mayHaveBeenSent: true)
  }

  // MARK: The task that pulls

  private func pull(_ body: StreamedBody) async {
    guard await isChunkNeeded() else { return }
    guard let chunks = body.take() else { return change { $0.end = .failure(sentBefore) } }
    do {
      repeat {
        switch try await chunks.pull() {
        case .element(let chunk): change { $0.chunk = chunk }
        case .last(let chunk):
          return change { state in
            state.chunk = chunk
            state.end = .success(())
          }
        case .end: return change { $0.end = .success(()) }
        }
      } while await isChunkNeeded()
    } catch {
      change { $0.end = .failure(error) }
    }
  }

  /// Waits until libcurl has taken the last chunk. Returns false if it needs no more.
  private func isChunkNeeded() async -> Bool {
    await withCheckedContinuation { puller in
      let answer: Bool? = state.withLock { state in
        if state.isClosed { return false }
        if state.needsChunk { return true }
        state.puller = puller
        return nil
      }
      if let answer { puller.resume(returning: answer) }
    }
  }

  /// Changes the state, and resumes libcurl if it waits for the change.
  private func change(_ change: (inout State) -> Void) {
    let transfer: Transfer? = state.withLock { state in
      guard !state.isClosed, state.end == nil else { return nil }
      change(&state)
      guard state.isStarved, !state.needsChunk else { return nil }
      state.isStarved = false
      return state.transfer
    }
    if let transfer { loop.execute { multi in multi.resumeSending(transfer) } }
  }

  // MARK: The loop's thread

  /// Sets the transfer that is resumed when a chunk has arrived.
  func attach(_ transfer: Transfer) { state.withLock { $0.transfer = transfer } }

  /// Whether libcurl is paused because there are no bytes.
  var isStarved: Bool { state.withLock { $0.isStarved } }

  /// The error that stopped the transfer; nil if there is none.
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Fills a buffer.
  ///
  /// - Returns: How many bytes were taken, 0 at the end; `CURL_READFUNC_PAUSE` if there are none yet, and `CURL_READFUNC_ABORT` if
  ///   there is a ``failure``.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (count, puller) = state.withLock { state in
      state.isWanted = true
      let count = unsafe Self.take(from: &state, into: buffer)
      return (count, state.needsChunk ? state.takePuller() : nil)
    }
    puller?.resume(returning: true)
    return count
  }

  private static func take(from state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard state.chunk.isEmpty else {
      let count = min(buffer.count, state.chunk.count)
      _ = unsafe state.chunk.prefix(count).copyBytes(to: buffer)
      state.chunk = count == state.chunk.count ? Data() : state.chunk.dropFirst(count)
      state.hasGiven = true
      return count
    }
    switch state.end {
    case .success:
      state.hasGiven = true
      return 0
    case .failure(let error):
      state.failure = error
      return Int(CURL_READFUNC_ABORT)
    case nil:
      state.isStarved = true
      return Int(CURL_READFUNC_PAUSE)
    }
  }

  /// Whether libcurl may send the request, which it does again after some failures of a connection.
  ///
  /// - Returns: False if bytes of the body are gone. libcurl would send the rest as if it were the whole.
  func mayBegin() -> Bool {
    state.withLock { state in
      guard state.hasGiven else { return true }
      state.failure = TransportError(
        .connectionLost,
        "the connection ended before a response; the request is not sent again, because its body is a stream; check whether the "
          + "server has run it, and repeat it with a new stream", url: url, mayHaveBeenSent: true)
      return false
    }
  }

  /// Ends the body before the stream has ended. libcurl must be resumed after it.
  func stop(_ end: Result<Void, any Error>) {
    state.withLock { state in
      state.chunk = Data()
      state.end = end
      state.isStarved = false
    }
    close()
  }

  /// Ends the task that pulls. Nothing is resumed from then on.
  func close() {
    let (puller, task) = state.withLock { state in
      defer { state.task = nil }
      state.isClosed = true
      state.transfer = nil
      return (state.takePuller(), state.task)
    }
    puller?.resume(returning: false)
    task?.cancel()
  }
}
