internal import CCurl
internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// An exchange over libcurl, whose callbacks call it on the loop's thread.
final class Transfer: Exchange, @unchecked Sendable {
  // Only the thread of the loop uses these properties.

  let easy: EasyHandle
  /// The position of the transfer in the list of its multi handle; nil if it is not in the list.
  var place: Int?
  /// The sockets that libcurl waits for in the name of this transfer, if it sends a stream; nil before the first one.
  private var sockets: Set<Int32>?
  private let pool: EasyHandlePool
  /// The IP address of the server; nil to look up the host name.
  private let server: String?
  /// The time at which the transfer fails, in nanoseconds of the monotonic clock.
  private let deadline: UInt64
  /// How often the request was sent again.
  private var repeats = 0
  /// Learns the version of HTTP from the response; nil if it is known.
  private let origin: HTTP1Origin?

  private var headLines = ResponseHeadReader()
  private var headBytes = 0
  /// Whether libcurl is delivering the bytes that it held while the transfer was paused.
  ///
  /// These bytes are in memory already, so all of them are accepted. A small compressed body may expand to many megabytes, and
  /// libcurl would copy the remaining bytes again after each new pause.
  private var isTakingHeldBytes = false
  /// Whether libcurl is paused because the consumer is slow.
  private var isReceivingPaused = false
  /// Whether the server refused the request over HTTP/2, where libcurl would go on sending the body.
  private var isRefused = false
  /// Whether the body of the response is JSON, which shows by itself whether it is whole.
  private var receivesJSON = false
  /// The error with which a callback stopped libcurl.
  private var refusal: TransportError?

  /// - Parameter easy: A handle that was prepared for the request.
  init(
    _ request: URLRequest, at server: String?, timeout: Double, easy: EasyHandle, limits: Limits, pool: EasyHandlePool,
    origin: HTTP1Origin? = nil
  ) {
    self.server = server
    deadline = MonotonicTime.after(timeout: timeout)
    self.easy = easy
    self.pool = pool
    self.origin = origin
    super.init(request, limits: limits)
  }

  override func abort(in multi: CurlMulti) { multi.abort(self) }

  override func resume(in multi: CurlMulti) { multi.resume(self) }

  // MARK: Callbacks of libcurl

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
    if head.httpVersion == .http2 {
      if head.statusCode >= 300 { isRefused = true }
      receivesJSON = head.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) }?.isJSON == true
    }
    origin?.learn(head.httpVersion)
    deliver(head)
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard unsafe !bytes.isEmpty else { return 0 }
    guard headLines.isComplete else {
      // libcurl 7.88 takes what follows a damaged interim head for a body.
      refusal = failure(.invalidResponse, request.url.protocolViolation("its body begins before a head"))
      return 0
    }
    do throws(TransportError) {
      guard unsafe try deliver(bytes, overflow: isTakingHeldBytes ? .ignored : .refused) else {
        // libcurl keeps the bytes that it could not deliver, and delivers them when the transfer is resumed.
        isReceivingPaused = true
        return Int(CURL_WRITEFUNC_PAUSE)
      }
      return bytes.count
    } catch {
      refusal = error
      return 0
    }
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

  /// How often a request is sent again at most.
  private static let maximumRepeats = 5

  /// Prepares the handle to send the request again, if the server did not process it, or if it may be processed twice.
  ///
  /// libcurl does so itself for most kept connections that end. It does not if an HTTP/2 server closes one with GOAWAY.
  ///
  /// - Returns: Whether the handle must be added again.
  func beginsAgain(after code: CURLcode) -> Bool {
    guard code != CURLE_OK, headBytes == 0, repeats < Self.maximumRepeats, mayBeRepeated(after: code) else { return false }
    let timeout = MonotonicTime.seconds(until: deadline)
    guard timeout > 0, (try? easy.prepare(request, at: server, timeout: timeout, feed: nil)) != nil else { return false }
    repeats += 1
    return true
  }

  private func mayBeRepeated(after code: CURLcode) -> Bool {
    switch request.body {
    case .data, nil: break
    case .segmented, .streamed: return false
    }
    // libcurl has repeated a refused stream itself, unless it opened no connection for that.
    if isUnprocessed { return code == CURLE_HTTP2 || easy.opensNone }
    guard easy.opensNone, refusal == nil else { return false }
    switch code {
    case CURLE_SEND_ERROR where easy.bytesSent == 0: return true
    case CURLE_HTTP2, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
      return request.isIdempotent && easy.usedKeptConnection
    default: return false
    }
  }

  /// Whether the server said that it did not process the request.
  private var isUnprocessed: Bool { headBytes == 0 && easy.messages.isRefused }

  /// Whether libcurl reports a whole response as one that was cut.
  ///
  /// A server may answer before it has read the request, and then reset the stream without an error (RFC 9113, 8.1). If it ends the
  /// connection too, libcurl 7.88 has the code of a cut body for that, and no message. The parser of the JSON finds a body that was cut.
  private func isWhole(_ code: CURLcode) -> Bool { code == CURLE_PARTIAL_FILE && receivesJSON && easy.errorDetail.isEmpty }

  func finish(_ code: CURLcode) {
    defer { giveBack(isReusable: code == CURLE_OK) }
    guard code != CURLE_OK, !isWhole(code) else { return end(headLines.isComplete ? .success(()) : .failure(endedInHead)) }
    let failure = CurlFailure(
      code, of: easy, request: request, isHeadComplete: headLines.isComplete, isUnprocessed: isUnprocessed)
    let ownFailure: (any Error)? = refusal ?? easy.bodyFailure
    end(.failure(ownFailure ?? failure.error(sent: easy.bytesSent > 0 && !isUnprocessed, began: headBytes > 0)))
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

  /// - Parameter isReusable: False after a failure, because libcurl keeps that a stream was refused, and counts its own repeats.
  private func giveBack(isReusable: Bool = true) {
    unsafe easy.setContext(nil)
    easy.dropBody()
    if isReusable, easy.isReusable(after: request) { pool.giveBack(easy) }
  }

  private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
    failure(code, message, responseBegan: headBytes > 0)
  }
}
