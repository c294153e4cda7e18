/// Reads requests of HTTP/1.0 and HTTP/1.1 from bytes in any portions, without input or output (RFC 9112).
///
/// It is used as ``ResponseReader`` is. After ``Event/end`` the bytes from the position on belong to the next request.
///
/// A request that a proxy before this server could read in another way is an error: lines without CR, continued or doubtful headers,
/// two lengths, a length beside a transfer coding, and hosts that differ.
public struct RequestReader: Sendable {
  /// A step of a request.
  public enum Event: Sendable, Hashable {
    /// All bytes were read, and the request has more.
    case needsBytes
    /// The first line and the headers were read.
    case head
    /// A part of the body: a range of the bytes that were passed.
    case body(Range<Int>)
    /// The request is complete.
    case end
  }

  private let limits: HTTP1Limits
  /// The body; nil in the head.
  private var body: MessageBody?
  private var collector = HeadCollector(skipsEmptyLines: true)
  /// The number of bytes that first line, headers and trailers may still have.
  private var room = 0
  private var line = RequestLine()

  /// The first line and the headers of the request.
  public private(set) var headers = HeaderBlock()
  /// The trailers of the request. They were not merged into the headers.
  public private(set) var trailers = HeaderBlock()
  /// The declared length of the body in bytes, 0 if there is no body; nil if it comes in chunks.
  public private(set) var bodyLength: Int?
  /// Whether any byte of the request was read, without empty lines before it.
  public private(set) var hasBegun = false
  /// Whether the client waits for `100 Continue` before it sends the body.
  public private(set) var expectsContinue = false
  /// Whether the client offers to switch to another protocol.
  public private(set) var offersUpgrade = false
  /// Whether the client keeps the connection open after the response.
  public private(set) var keepsConnection = false

  /// Creates a reader. ``begin()`` must be called before each request.
  public init(limits: HTTP1Limits = HTTP1Limits()) { self.limits = limits }

  /// The place of the method in the bytes of ``headers``.
  public var methodRange: Range<Int> { line.method }

  /// The place of the path and query in the bytes of ``headers``, or of `*`. A path of an absolute target may lack its first
  /// slash: it is empty or begins with a question mark then.
  public var targetRange: Range<Int> { line.path }

  /// The place of the host and port in the bytes of ``headers``: those of an absolute target, otherwise those of the Host header.
  /// Nil for a request of HTTP/1.0 that names no host.
  public private(set) var authorityRange: Range<Int>?

  /// Whether the request is of HTTP/1.0.
  public var isVersion10: Bool { line.isVersion10 }

  /// Prepares for the next request.
  public mutating func begin() {
    body = nil
    collector = HeadCollector(skipsEmptyLines: true)
    room = limits.headBytes
    (line, bodyLength, authorityRange) = (RequestLine(), nil, nil)
    (hasBegun, expectsContinue, offersUpgrade, keepsConnection) = (false, false, false, false)
    headers.removeAll()
    trailers.removeAll()
  }

  /// Reads on.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that came from the client.
  ///   - position: The index of the first byte that has not been read. It moves on.
  /// - Throws: ``HTTP1Error``. The connection must be closed after the response.
  public mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTP1Error) -> Event {
    guard body != nil else { return try readHead(bytes, &position) }
    switch try body?.next(bytes, &position, trailers: &trailers, room: &room) {
    case .data(let range): return .body(range)
    case .end: return .end
    case .needsBytes, nil: return .needsBytes
    }
  }

  /// The error for a connection that ends in the middle of a request.
  public var endedEarly: HTTP1Error { HTTP1Error(.endedEarly, "the connection ended in the middle of it") }

  private mutating func readHead(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTP1Error) -> Event {
    let isWhole = try collector.read(bytes, &position, into: &headers, room: &room)
    hasBegun = !headers.bytes.isEmpty
    guard isWhole else { return .needsBytes }
    line = try RequestLine(headers.bytes.span)
    try headers.readFields(from: line.end, .request, maximum: limits.fields)
    try checkHost()
    try readExpectation()
    try beginBody()
    return .head
  }

  private mutating func beginBody() throws(HTTP1Error) {
    offersUpgrade = headers.firstIndex(of: .upgrade) != nil
    let isClosing = headers.list(.connection, contains: "close")
    keepsConnection = !isClosing && (!isVersion10 || headers.list(.connection, contains: "keep-alive"))
    let framing = try BodyFraming(headers, isVersion10: isVersion10, .request) ?? .empty
    bodyLength =
      switch framing {
      case .length(let length): length
      case .empty, .untilEnd: 0
      case .chunked: nil
      }
    body = MessageBody(framing, .request, limits: limits)
  }

  private mutating func readExpectation() throws(HTTP1Error) {
    var next = headers.firstIndex(of: .expect)
    while let index = next {
      guard headers.bytes.span.isEqual(at: headers.valueRange(at: index), to: "100-continue") else {
        throw HTTP1Error(.unsupportedExpectation, "the only expectation that is supported is 100-continue")
      }
      expectsContinue = true
      next = headers.firstIndex(of: .expect, from: index + 1)
    }
  }

  /// Requires exactly one valid Host header; requests of HTTP/1.0 may omit it (RFC 9112, 3.2).
  private mutating func checkHost() throws(HTTP1Error) {
    if let index = headers.firstIndex(of: .host) {
      guard headers.firstIndex(of: .host, from: index + 1) == nil else {
        throw HTTP1Error(.badHost, "a request needs exactly one Host field, and this one has several")
      }
      let value = headers.valueRange(at: index)
      guard Authority.isValid(headers.bytes.span, at: value) else {
        throw HTTP1Error(.badHost, "the Host field does not contain a host and an optional port")
      }
      authorityRange = value
    } else if !isVersion10 {
      throw HTTP1Error(.badHost, "a request needs exactly one Host field, and this one has 0")
    }
    if let authority = line.authority { authorityRange = authority }
  }
}
