internal import CCurl
internal import CLinux
internal import Carabiner
internal import CarabinerHTTP1
internal import FoundationEssentials
internal import Glibc

/// A connection that libcurl opened and will close, with HTTP/1.1 written and read here. Used only on the event loop's thread.
///
/// Its easy handle stays in the multi handle, because libcurl finds the connection there. libcurl uses such a connection for no other
/// transfer (`CURLOPT_CONNECT_ONLY`).
@safe final class HTTP1Connection {
  /// The result of sending and receiving as much as possible.
  enum Progress {
    /// The exchange goes on once the socket is ready, or the consumer has taken what it has.
    case running
    /// The response is complete.
    case complete
    /// The connection ended or failed.
    case lost(String)
    /// The response cannot be read.
    case unreadable(HTTP1Error)
    /// The exchange refuses the response.
    case refused(TransportError)
  }

  private struct State: ~Copyable {
    var exchange: HTTP1Exchange?
    var reader: ResponseReader
    /// How many bytes of head and body were sent.
    var sent = 0
    /// Whether sending failed. A response may have arrived nevertheless.
    var sendingFailed = false
    var waitsToSend = false
    var isPaused = false
    /// Whether the last bytes that arrived were the end of the response.
    var isExact = true
    /// Head and body in one buffer, over TLS: after a wait, OpenSSL must get the same buffer again.
    var joined: [UInt8]?
    var receivedBytes = 0

    init(_ limits: HTTP1Limits) { reader = ResponseReader(limits: limits) }

    mutating func begin(_ exchange: HTTP1Exchange) {
      self.exchange = exchange
      (sent, sendingFailed, isPaused, isExact) = (0, false, false, true)
      reader.begin(isHead: exchange.isHead)
    }

    mutating func end() {
      exchange?.connection = nil
      exchange = nil
      joined = nil
      isPaused = false
    }

    var isWhollySent: Bool { exchange.map { sent == $0.head.count + $0.body.count } ?? false }

    /// Whether the next exchange may use the connection.
    var isReusable: Bool { reader.isReusable && isExact && !waitsToSend && !sendingFailed && isWhollySent }
  }

  let easy: EasyHandle
  let origin: HTTP1Origin
  /// Valid once the connection is open.
  private(set) var socket: Int32 = -1
  /// When the last exchange ended, in nanoseconds of the monotonic clock.
  var idleSince: UInt64 = 0
  /// The number of the loop's waits when the last exchange ended.
  var idleSinceWait: UInt64 = 0
  /// Whether the connection has been idle.
  var isKept = false

  @safe @exclusivity(unchecked) private var state: State

  /// After this many reads, other sockets have their turn.
  private static let readsPerTurn = 16
  /// Over TLS, a body up to this size is sent in one record with the head.
  private static let joinedBytes = 16 << 10

  init(_ easy: EasyHandle, to origin: HTTP1Origin, limits: HTTP1Limits) {
    self.easy = easy
    self.origin = origin
    state = State(limits)
  }

  /// Takes the socket that libcurl has connected. Returns false if there is none.
  func opened() -> Bool {
    socket = unsafe CCurl_getSocket(easy.handle)
    guard socket >= 0 else { return false }
    easy.clearError()
    // libcurl closes connections that no handle uses, when it opens another one after two minutes or if the server has closed them.
    // Sending nothing makes this one used by its handle until that is removed.
    var count = 0
    if !isTLS { _ = unsafe curl_easy_send(easy.handle, "", 0, &count) }
    return isTLS ? isQuiet : true
  }

  /// The running exchange; nil while the connection is idle.
  var exchange: HTTP1Exchange? { state.exchange }
  /// Whether the loop waits until the socket takes more bytes.
  var waitsToSend: Bool { state.waitsToSend }
  /// Whether nothing is received because the consumer is slow.
  var isPaused: Bool { state.isPaused }

  private var isTLS: Bool { origin.isTLS }

  /// Whether any byte of the response has arrived.
  var responseBegan: Bool { state.reader.hasBytes }

  /// Whether the next exchange may use the connection, once ``Progress/complete`` was returned.
  var isReusable: Bool { state.isReusable }

  /// Whether an idle connection is still open and its server has sent nothing.
  var isQuiet: Bool {
    guard isTLS else { return CLinux_isQuiet(socket) != 0 }
    // Messages of TLS, such as tickets, do not count.
    var byte: UInt8 = 0
    var count = 0
    return unsafe curl_easy_recv(easy.handle, &byte, 1, &count) == CURLE_AGAIN
  }

  // MARK: An exchange

  /// Begins to send a request.
  func begin(_ exchange: HTTP1Exchange, buffer: UnsafeMutableRawBufferPointer) -> Progress {
    exchange.connection = self
    exchange.isOnKeptConnection = isKept
    exchange.wasSent = false
    state.begin(exchange)
    return unsafe send(exchange, buffer)
  }

  /// Releases the exchange.
  func end() { state.end() }

  /// Sends and receives as much as possible.
  func proceed(canSend: Bool, canReceive: Bool, buffer: UnsafeMutableRawBufferPointer) -> Progress {
    guard let exchange else { return .running }
    // A response to a request that was not sent completely must be read before sending fails.
    if canReceive, !isPaused {
      let progress = unsafe receive(for: exchange, buffer)
      guard case .running = progress else { return progress }
    }
    return canSend && waitsToSend ? unsafe send(exchange, buffer) : .running
  }

  /// Continues to receive after a pause.
  func resume(buffer: UnsafeMutableRawBufferPointer) -> Progress {
    state.isPaused = false
    return unsafe proceed(canSend: false, canReceive: true, buffer: buffer)
  }

  // MARK: Sending

  private func send(_ exchange: HTTP1Exchange, _ buffer: UnsafeMutableRawBufferPointer) -> Progress {
    let headCount = exchange.head.count
    let total = headCount + exchange.body.count
    state.waitsToSend = false
    while state.sent < total {
      let count = unsafe exchange.head.withUnsafeBytes { head in
        unsafe exchange.body.withUnsafeBytes { body in
          unsafe send(
            UnsafeRawBufferPointer(rebasing: head[min(state.sent, headCount)...]),
            UnsafeRawBufferPointer(rebasing: body[max(state.sent - headCount, 0)...]))
        }
      }
      guard let count else {
        state.sendingFailed = true
        return unsafe receiveAfterFailure(exchange, buffer)
      }
      guard count > 0 else {
        state.waitsToSend = true
        return .running
      }
      state.sent += count
      exchange.wasSent = true
    }
    return .running
  }

  /// Receives the response that may have arrived before sending failed.
  private func receiveAfterFailure(_ exchange: HTTP1Exchange, _ buffer: UnsafeMutableRawBufferPointer) -> Progress {
    // The end of the connection is found once the consumer goes on.
    if isPaused { return .running }
    let received = state.receivedBytes
    let progress = unsafe receive(for: exchange, buffer)
    if case .running = progress, state.receivedBytes == received { return .lost(failureText("sending failed")) }
    return progress
  }

  private func failureText(_ text: String) -> String {
    let detail = easy.errorDetail
    return detail.isEmpty ? text : detail
  }

  /// Sends bytes of the head and the body. Returns how many were sent, 0 if the socket takes none now; nil if it failed.
  private func send(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Int? {
    if isTLS { return unsafe sendOverTLS(head, body) }
    while true {
      let count = unsafe CLinux_send(socket, head.baseAddress, head.count, body.baseAddress, body.count)
      if count >= 0 { return count }
      if errno == EAGAIN || errno == EWOULDBLOCK { return 0 }
      if errno != EINTR { return nil }
    }
  }

  private func sendOverTLS(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Int? {
    var count = 0
    let code: CURLcode
    // After a wait, some records may have been sent although OpenSSL reports none.
    exchange?.wasSent = true
    if unsafe !head.isEmpty, unsafe !body.isEmpty, body.count <= Self.joinedBytes {
      let bytes = unsafe state.joined ?? [UInt8](head) + [UInt8](body)
      state.joined = bytes
      code = unsafe curl_easy_send(easy.handle, bytes, bytes.count, &count)
    } else {
      let part = unsafe head.isEmpty ? body : head
      code = unsafe curl_easy_send(easy.handle, part.baseAddress, part.count, &count)
    }
    switch code {
    case CURLE_OK:
      state.joined = nil
      return count
    case CURLE_AGAIN: return 0
    default: return nil
    }
  }

  // MARK: Receiving

  private enum Received {
    case bytes(Int)
    case nothing
    case end
    case failure(String)
  }

  private func receive(for exchange: HTTP1Exchange, _ buffer: UnsafeMutableRawBufferPointer) -> Progress {
    for _ in 0..<Self.readsPerTurn {
      switch unsafe receive(buffer) {
      case .nothing: return .running
      case .failure(let reason): return .lost(reason)
      case .end: return connectionEnded(exchange)
      case .bytes(let count):
        state.receivedBytes &+= count
        if let progress = unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), for: exchange) { return progress }
        if isPaused || (!isTLS && count < buffer.count) { return .running }
      }
    }
    return .running
  }

  private func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Received {
    guard isTLS else {
      while true {
        let count = unsafe CLinux_receive(socket, buffer.baseAddress, buffer.count)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        if errno == EAGAIN || errno == EWOULDBLOCK { return .nothing }
        if errno != EINTR { return .failure(SystemFailure.text(errno)) }
      }
    }
    var count = 0
    let code = unsafe curl_easy_recv(easy.handle, buffer.baseAddress, buffer.count, &count)
    switch code {
    case CURLE_OK: return count > 0 ? .bytes(count) : .end
    case CURLE_AGAIN: return .nothing
    default: return unsafe .failure(failureText(String(cString: curl_easy_strerror(code))))
    }
  }

  /// Reads a part of the response. Returns nil if the response has more.
  private func take(_ bytes: UnsafeRawBufferPointer, for exchange: HTTP1Exchange) -> Progress? {
    let span = unsafe Span<UInt8>(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
    var position = 0
    while true {
      let event: ResponseReader.Event
      do throws(HTTP1Error) { event = try state.reader.next(span, &position) } catch { return .unreadable(error) }
      do throws(TransportError) {
        switch event {
        case .needsBytes: return nil
        case .interim: break
        case .head: try exchange.headArrived(state.reader)
        case .body(let range):
          if unsafe try !exchange.bodyArrived(UnsafeRawBufferPointer(rebasing: bytes[range])) { state.isPaused = true }
        case .end:
          try exchange.checkBodyIsComplete()
          state.isExact = position == bytes.count
          return .complete
        }
      } catch {
        return .refused(error)
      }
    }
  }

  private func connectionEnded(_ exchange: HTTP1Exchange) -> Progress {
    guard state.reader.hasBytes else { return .lost("it ended before a response") }
    do throws(HTTP1Error) { try state.reader.connectionEnded() } catch { return .unreadable(error) }
    do throws(TransportError) { try exchange.checkBodyIsComplete() } catch { return .refused(error) }
    return .complete
  }
}
