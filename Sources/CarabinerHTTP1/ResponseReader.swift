internal import CarabinerWire

/// Reads responses of HTTP/1.0 and HTTP/1.1 from bytes in any portions, without input or output (RFC 9112).
///
/// ```swift
/// reader.begin(isHead: false)
/// var position = 0
/// while true {
///   switch try reader.next(bytes, &position) {
///   case .needsBytes: …            // read more, and set the position to 0
///   case .interim(let status): …
///   case .head: …                  // reader.status, reader.headers
///   case .body(let range): …       // a part of the body, in bytes
///   case .end: …                   // bytes after position do not belong to the response
///   }
/// }
/// ```
///
/// A response that could be read in two ways is an error. So are two lengths, and a length beside a transfer coding.
public struct ResponseReader: Sendable {
  /// A step of a response.
  public enum Event: Sendable, Hashable {
    /// All bytes were read, and the response has more.
    case needsBytes
    /// An interim response with this status was read. The final one follows.
    case interim(Int)
    /// Status and headers were read.
    case head
    /// A part of the body: a range of the bytes that were passed.
    case body(Range<Int>)
    /// The response is complete.
    case end
  }

  private let limits: HTTP1Limits
  /// The body; nil in the head.
  private var body: MessageBody?
  private var collector = HeadCollector(skipsEmptyLines: true)
  /// The number of bytes that first line, headers and trailers may still have.
  private var room = 0
  private var isHead = false
  private var keepsConnection = false

  /// The status of the response, from 100 to 999.
  public private(set) var status = 0
  /// Whether the response is of HTTP/1.0.
  public private(set) var isVersion10 = false
  /// The headers of the response.
  public private(set) var headers = HeaderBlock()
  /// The trailers of the response. They were not merged into the headers.
  public private(set) var trailers = HeaderBlock()
  /// The declared length of the body in bytes; nil if it is not known before the end.
  public private(set) var bodyLength: Int?

  /// Creates a reader. ``begin(isHead:)`` must be called before each response.
  public init(limits: HTTP1Limits = HTTP1Limits()) { self.limits = limits }

  /// Whether the response is complete and its connection may be used for another request.
  ///
  /// It may not if the server sent bytes after the response.
  public var isReusable: Bool {
    keepsConnection && body?.isEnded == true
  }

  /// Whether any byte of the response was read.
  public private(set) var hasBytes = false

  /// Prepares for the next response.
  ///
  /// - Parameter isHead: Whether the request was HEAD, whose response has no body.
  public mutating func begin(isHead: Bool) {
    self.isHead = isHead
    body = nil
    collector = HeadCollector(skipsEmptyLines: true)
    room = limits.headBytes
    (status, bodyLength, hasBytes, keepsConnection) = (0, nil, false, false)
    headers.removeAll()
    trailers.removeAll()
  }

  /// Reads on.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that came from the server.
  ///   - position: The index of the first byte that has not been read. It moves on.
  /// - Throws: ``HTTP1Error``. The connection must be closed then.
  public mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTP1Error) -> Event {
    if position < bytes.count { hasBytes = true }
    guard body != nil else { return try readHead(bytes, &position) }
    switch try body?.next(bytes, &position, trailers: &trailers, room: &room) {
    case .data(let range): return .body(range)
    case .end: return .end
    case .needsBytes, nil: return .needsBytes
    }
  }

  /// Ends the response because the connection has ended.
  ///
  /// - Throws: ``HTTP1Error`` with ``HTTP1Error/Code/endedEarly`` if the response is not complete.
  public mutating func connectionEnded() throws(HTTP1Error) {
    keepsConnection = false
    guard body != nil else {
      throw HTTP1Error(
        .endedEarly,
        hasBytes ? "the connection ended in the middle of the response's head" : "the connection ended before a response")
    }
    guard body?.connectionEnded() == true else {
      throw HTTP1Error(.endedEarly, "the body of the response ended before its length")
    }
  }

  // MARK: The head

  private mutating func readHead(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTP1Error) -> Event {
    let isWhole = try collector.read(bytes, &position, into: &headers, room: &room)
    // A server of another protocol may wait for an answer to its greeting.
    guard headers.bytes.span.mayBegin("HTTP/1.") else {
      throw HTTP1Error(.malformedHead, "it does not begin with a status line of HTTP/1.0 or HTTP/1.1")
    }
    guard isWhole else { return .needsBytes }
    let fields: Int
    (status, isVersion10, fields) = try Self.statusLine(headers.bytes.span)
    try headers.readFields(from: fields, .response, maximum: limits.fields)
    guard status >= 200 else {
      guard status != 101 else {
        throw HTTP1Error(.unexpectedUpgrade, "it switches to another protocol, which was not requested")
      }
      headers.removeAll()
      collector = HeadCollector(skipsEmptyLines: true)
      return .interim(status)
    }
    try beginBody()
    return .head
  }

  private mutating func beginBody() throws(HTTP1Error) {
    let framing = try BodyFraming(headers, isVersion10: isVersion10, .response) ?? .untilEnd
    let isClosing = headers.list(.connection, contains: "close")
    keepsConnection = !isClosing && (!isVersion10 || headers.list(.connection, contains: "keep-alive"))
    if case .length(let length) = framing { bodyLength = length }
    if case .untilEnd = framing { keepsConnection = keepsConnection && isBodyless }
    body = MessageBody(isBodyless ? .empty : framing, .response, limits: limits)
  }

  /// Whether the response has no body, whatever its headers say (RFC 9112, 6.3).
  public var isBodyless: Bool { isHead || status == 204 || status == 304 }

  /// The parts of a status line, and the beginning of the headers.
  private static func statusLine(
    _ bytes: Span<UInt8>
  ) throws(HTTP1Error) -> (status: Int, isVersion10: Bool, next: Int) {
    // The shortest line is "HTTP/1.1 200".
    guard bytes.count > 12, bytes[7] == Byte.zero || bytes[7] == Byte.zero + 1,
      bytes[8] == Byte.space
    else {
      throw HTTP1Error(.malformedHead, "its status line is malformed: \(String(quoting: bytes, from: 0))")
    }
    var status = 0
    // A byte that is not a digit makes the status negative.
    for index in 9..<12 { status = Byte.isDigit(bytes[index]) ? status * 10 + Int(bytes[index] - Byte.zero) : -1000 }
    guard status >= 100, bytes[12] <= Byte.space else {
      throw HTTP1Error(.malformedHead, "its status, a response code, is not a number from 100 to 999")
    }
    var end = 12
    while true {
      end = bytes.firstControl(from: end)
      guard end < bytes.count, bytes[end] != 0 else { break }
      if bytes[end] == Byte.carriageReturn || bytes[end] == Byte.lineFeed {
        guard let next = try HeaderBlock.lineEnd(bytes, at: end, .response) else { break }
        return (status, bytes[7] == Byte.zero, next)
      }
      end += 1
    }
    throw HTTP1Error(.malformedHead, "its status line has a CR, LF or NUL in it")
  }
}

extension Span<UInt8> {
  /// Whether bytes that begin with this text may follow: whether all bytes so far are those of the text.
  fileprivate func mayBegin(_ text: StaticString) -> Bool {
    for index in 0..<Swift.min(count, text.utf8CodeUnitCount) where self[index] != text[index] { return false }
    return true
  }

  /// Whether the bytes begin with this text, in the same case.
  func isPrefixed(by text: StaticString) -> Bool {
    guard count >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where self[index] != text[index] { return false }
    return true
  }
}
