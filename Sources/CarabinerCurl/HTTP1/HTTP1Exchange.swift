internal import Carabiner
internal import CarabinerHTTP1
internal import CarabinerWire
internal import FoundationEssentials

/// An exchange over a connection of ``HTTP1Engine``.
final class HTTP1Exchange: Exchange, @unchecked Sendable {
  // Only the thread of the loop uses these properties, so the runtime need not check each access.

  let origin: HTTP1Origin
  /// The head of the request.
  @safe @exclusivity(unchecked) private(set) var head: MessageWriter
  let body: Data
  /// Whether the body of the response is decompressed if it has a coding.
  private let decodes: Bool
  /// The time at which the exchange fails, in nanoseconds of the monotonic clock.
  private(set) var deadline: UInt64
  /// The latest time at which it fails, however long its clock is stopped.
  private let latest: UInt64
  /// The clock may be stopped for so many times the timeout.
  private static let longestStop = 10.0
  /// Whether the clock stops while the body is not read, and since when it is stopped; nil while it runs.
  private var stopsClock = false
  private var stoppedSince: UInt64?
  private var bodyLength: Int?
  /// The timeout in seconds, for the message.
  private let timeout: Double

  /// The position in the list of the engine; nil if the exchange has ended.
  var place: Int?
  /// Whether the exchange waits for a connection.
  var isWaiting = false
  /// The connection that carries the exchange; nil while it waits for one.
  @safe @exclusivity(unchecked) var connection: HTTP1Connection?
  /// Whether the connection had been idle before.
  var isOnKeptConnection = false
  /// Whether only a new connection may carry the exchange.
  var needsNewConnection: Bool
  /// Whether the connection has taken bytes of the request.
  var wasSent = false
  /// How often the request was sent again.
  var repeats = 0
  private var responseBegan = false
  @safe @exclusivity(unchecked) private var decoder: ContentDecoder?

  init(
    _ request: URLRequest, head: MessageWriter, decodes: Bool, origin: HTTP1Origin, timeout: Double, limits: Limits
  ) {
    self.origin = origin
    self.head = head
    self.decodes = decodes
    self.timeout = timeout
    body = request.body?.data ?? Data()
    deadline = MonotonicTime.after(timeout: timeout)
    latest = MonotonicTime.after(timeout: timeout * (1 + Self.longestStop))
    // It would not be sent again, so it must not depend on a connection that the server may be about to close.
    needsNewConnection = !request.isIdempotent && body.isEmpty
    super.init(request, limits: limits)
  }

  override func abort(in multi: CurlMulti) { multi.engine?.abort(self) }

  override func resume(in multi: CurlMulti) { multi.engine?.resume(self) }

  // MARK: The clock

  override var hasClock: Bool { true }

  override var declaredLength: Int? { bodyLength }

  override func beginPassing() {
    super.beginPassing()
    stopsClock = true
    if connection?.isPaused == true { stopClock() }
  }

  private func stopClock() {
    if stopsClock, stoppedSince == nil { stoppedSince = MonotonicTime.now }
  }

  /// Whether the clock is stopped now.
  var hasStoppedClock: Bool { stoppedSince != nil }

  /// The time at which the exchange fails if nothing changes.
  var due: UInt64 { stoppedSince == nil ? deadline : latest }

  /// The consumer reads again. The deadline moves by the time in which it did not.
  func runClock() {
    guard let since = stoppedSince else { return }
    stoppedSince = nil
    let (moved, overflow) = deadline.addingReportingOverflow(MonotonicTime.now - since)
    deadline = overflow ? latest : min(moved, latest)
  }

  /// Takes the writer of the head, which is empty then. The exchange must have ended.
  func takeHead() -> MessageWriter {
    var taken = MessageWriter()
    swap(&taken, &head)
    taken.removeAll()
    return taken
  }

  var isHead: Bool { request.httpMethod == "HEAD" }

  /// Whether the request may be sent again after its connection ended before a response (`retry.1`).
  var mayBeRepeated: Bool { isOnKeptConnection && (request.isIdempotent || !wasSent) }

  // MARK: The response

  func headArrived(_ reader: borrowing ResponseReader) throws(TransportError) {
    responseBegan = true
    let headers = HTTPHeaders(reader.headers)
    if decodes, !reader.isBodyless, reader.headers.firstIndex(of: .contentEncoding) != nil {
      try prepareDecoder(headers.values(for: "Content-Encoding"))
    }
    if decoder == nil { bodyLength = reader.isBodyless ? 0 : reader.bodyLength }
    deliver(
      HTTPURLResponse(
        url: request.url, statusCode: reader.status, headers: headers,
        httpVersion: reader.isVersion10 ? .http10 : .http11))
  }

  private func prepareDecoder(_ values: [String]) throws(TransportError) {
    do throws(ContentDecoder.Fault) { decoder = try ContentDecoder(values) } catch { throw damaged(error) }
  }

  /// - Returns: Whether the consumer has room for more.
  func bodyArrived(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
    var hasRoom = true
    if let decoder {
      unsafe try decoder.decode(bytes, failure: damaged) { part throws(TransportError) in
        if unsafe try !deliver(part, overflow: .taken) { hasRoom = false }
      }
    } else {
      hasRoom = unsafe try deliver(bytes, overflow: .taken)
    }
    if !hasRoom { stopClock() }
    return hasRoom
  }

  func checkBodyIsComplete() throws(TransportError) {
    guard decoder?.isComplete != false else { throw damaged(.init(reason: "its compressed body is cut off")) }
  }

  // MARK: Errors

  private var address: String { "\(request.url.host() ?? "?"):\(request.url.effectivePort)" }

  private func damaged(_ fault: ContentDecoder.Fault) -> TransportError {
    failure(.invalidResponse, request.url.protocolViolation(fault.reason))
  }

  private func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
    failure(code, message, sent: wasSent || repeats > 0, responseBegan: responseBegan)
  }

  /// The error for a response that cannot be read.
  func unreadable(_ error: HTTP1Error) -> TransportError {
    responseBegan = true
    switch error.code {
    case .endedEarly: return connectionLost(error.reason)
    case .headTooLarge:
      return failure(
        .headTooLarge,
        "the head of the response is longer than \(limits.headBytes) bytes, or has more than \(HTTP1Engine.maximumHeaders) headers; "
          + "check the server, or raise the limit maximum-head")
    default: return failure(.invalidResponse, request.url.protocolViolation(error.reason))
    }
  }

  /// The error for a connection that ended.
  ///
  /// - Parameter began: Whether bytes of the response had arrived.
  func connectionLost(_ detail: String, began: Bool = true) -> TransportError {
    if began { responseBegan = true }
    if !began, isOnKeptConnection, !request.isIdempotent {
      return failure(.connectionLost, CurlFailure.notSentAgain(to: address))
    }
    return failure(.connectionLost, "the connection to \(address) ended in the middle: \(detail); check the log of the server")
  }

  var timedOut: TransportError {
    if connection?.responseBegan == true { responseBegan = true }
    let stage = connection == nil ? "no connection" : responseBegan ? "a part of the response" : "no byte of a response"
    return failure(
      .timedOut,
      "no complete response from \(address) in time: there was \(stage) after \(timeout) s; raise the timeout, or check the server"
    )
  }
}

extension HTTPHeaders {
  /// The headers of a message.
  fileprivate init(_ block: HeaderBlock) {
    self.init()
    append(received: block.bytes.span, count: block.count) { (block.nameRange(at: $0), block.valueRange(at: $0)) }
  }
}
