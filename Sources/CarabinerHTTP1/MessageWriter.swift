internal import CarabinerWire

/// Writes requests and responses of HTTP/1.1 into one buffer, which is used again for the next message.
///
/// The writer decides the framing: headers with the names Content-Length and Transfer-Encoding are left out.
public struct MessageWriter: Sendable {
  /// The end of the head.
  public enum Framing: Sendable, Hashable {
    /// Nothing is written about a body.
    case none
    /// A body of this many bytes follows.
    case length(Int)
    /// Chunks follow, see ``MessageWriter/addChunk(_:)``.
    case chunked
  }

  /// The reason why a head is not written. Nothing of the part that caused it is in ``MessageWriter/bytes``.
  public enum Fault: Error, Hashable, Sendable {
    /// The method is not a token.
    case method
    /// The target is empty, or has a space or a control character.
    case target
    /// The status is not a number from 100 to 999, or its reason has a CR, LF or NUL.
    case status
    /// The name of a header is not a token, or its value has a CR, LF or NUL.
    case header
  }

  /// The bytes that were written since ``removeAll()``.
  public private(set) var bytes: [UInt8] = []

  /// Creates a writer.
  public init() {}

  /// Removes the bytes, and keeps the memory.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Begins a request.
  ///
  /// - Parameter target: The path and query, or another form of target.
  public mutating func beginRequest(method: String, target: String) throws(Fault) {
    let (method, target) = (method.utf8Span.span, target.utf8Span.span)
    guard method.isToken else { throw .method }
    guard target.isTarget else { throw .target }
    bytes.append(method, 0..<method.count)
    bytes.append(Byte.space)
    bytes.append(target, 0..<target.count)
    bytes.append(" HTTP/1.1\r\n")
  }

  /// Begins a response.
  ///
  /// - Parameter reason: The reason phrase, which may be empty.
  public mutating func beginResponse(status: Int, reason: String) throws(Fault) {
    let reason = reason.utf8Span.span
    guard (100...999).contains(status), reason.isFieldValue else { throw .status }
    bytes.append("HTTP/1.1 ")
    bytes.append(decimal: status)
    bytes.append(Byte.space)
    bytes.append(reason, 0..<reason.count)
    bytes.append("\r\n")
  }

  /// Adds a header.
  public mutating func addField(_ name: String, _ value: String) throws(Fault) {
    let (name, value) = (name.utf8Span.span, value.utf8Span.span)
    guard name.isToken, value.isFieldValue else { throw .header }
    let range = 0..<name.count
    guard !name.isEqual(at: range, to: "content-length"), !name.isEqual(at: range, to: "transfer-encoding") else { return }
    addLine(name, range, value, 0..<value.count)
  }

  /// Adds a header of another message as the bytes that came.
  public mutating func addField(_ index: Int, of headers: HeaderBlock) {
    let known = headers.known(at: index)
    guard known != .contentLength, known != .transferEncoding else { return }
    addLine(headers.bytes.span, headers.nameRange(at: index), headers.bytes.span, headers.valueRange(at: index))
  }

  private mutating func addLine(_ name: Span<UInt8>, _ nameRange: Range<Int>, _ value: Span<UInt8>, _ valueRange: Range<Int>) {
    bytes.append(name, nameRange)
    bytes.append(Byte.colon)
    bytes.append(Byte.space)
    bytes.append(value, valueRange)
    bytes.append(Byte.carriageReturn)
    bytes.append(Byte.lineFeed)
  }

  /// Ends the head.
  public mutating func endHead(_ framing: Framing) {
    switch framing {
    case .none: bytes.append("\r\n")
    case .length(let length):
      bytes.append("Content-Length: ")
      bytes.append(decimal: length)
      bytes.append("\r\n\r\n")
    case .chunked: bytes.append("Transfer-Encoding: chunked\r\n\r\n")
    }
  }

  /// Adds a part of a body that was announced with its length.
  public mutating func addBody(_ body: Span<UInt8>) { bytes.append(body, 0..<body.count) }

  /// Adds a chunk. An empty one is left out, because it would end the body.
  public mutating func addChunk(_ chunk: Span<UInt8>) {
    guard !chunk.isEmpty else { return }
    bytes.append(contentsOf: String(chunk.count, radix: 16).utf8)
    bytes.append("\r\n")
    addBody(chunk)
    bytes.append("\r\n")
  }

  /// Ends a body of chunks, without trailers.
  public mutating func endChunks() { bytes.append("0\r\n\r\n") }
}

extension Span<UInt8> {
  fileprivate var isToken: Bool {
    var index = 0
    while index < count, self[index].isTokenByte { index &+= 1 }
    return index == count && !isEmpty
  }

  fileprivate var isTarget: Bool {
    var index = 0
    while index < count, self[index] > Byte.space, self[index] != Byte.delete { index &+= 1 }
    return index == count && !isEmpty
  }

  /// Whether there is no CR, LF or NUL.
  fileprivate var isFieldValue: Bool {
    var index = firstControl(from: 0)
    while index < count {
      guard self[index] != 0, self[index] != Byte.lineFeed, self[index] != Byte.carriageReturn else { return false }
      index = firstControl(from: index &+ 1)
    }
    return true
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ text: StaticString) {
    unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  fileprivate mutating func append(decimal number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(Byte.zero + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}
