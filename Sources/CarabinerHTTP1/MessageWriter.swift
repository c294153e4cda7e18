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

  /// The bytes that were written, and room for more. An array that grows by each append would take several times as long.
  private var memory: [UInt8] = []
  /// The number of bytes that were written since ``removeAll()``.
  public private(set) var count = 0
  private static let firstRoom = 512

  /// Creates a writer.
  public init() {}

  /// A copy of the bytes that were written since ``removeAll()``.
  public var bytes: [UInt8] { Array(memory[..<count]) }

  /// Calls `body` with the bytes that were written since ``removeAll()``.
  @unsafe public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    unsafe try memory.withUnsafeBytes { unsafe try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// Removes the bytes, and keeps the memory.
  public mutating func removeAll() { count = 0 }

  /// Begins a request.
  ///
  /// - Parameter target: The path and query, or another form of target.
  public mutating func beginRequest(method: String, target: String) throws(Fault) {
    let (method, target) = (method.utf8Span.span, target.utf8Span.span)
    guard method.isToken else { throw .method }
    guard target.isTarget else { throw .target }
    append(method)
    append(" ")
    append(target)
    append(" HTTP/1.1\r\n")
  }

  /// Begins a response.
  ///
  /// - Parameter reason: The reason phrase, which may be empty.
  public mutating func beginResponse(status: Int, reason: String) throws(Fault) {
    let reason = reason.utf8Span.span
    guard (100...999).contains(status), reason.isFieldValue else { throw .status }
    append("HTTP/1.1 ")
    append(decimal: status)
    append(" ")
    append(reason)
    append("\r\n")
  }

  /// Adds a header.
  public mutating func addField(_ name: String, _ value: String) throws(Fault) {
    try addField(name.utf8Span.span, value.utf8Span.span)
  }

  /// Adds a header.
  public mutating func addField(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(Fault) {
    guard name.isToken, value.isFieldValue else { throw .header }
    addLine(name, value)
  }

  /// Adds a header, and refuses all control characters in its value except tabs.
  public mutating func addPlainField(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(Fault) {
    guard name.isToken, value.isPlainValue else { throw .header }
    addLine(name, value)
  }

  private mutating func addLine(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    let range = 0..<name.count
    switch name.count {
    case 14 where name.isEqual(at: range, to: "content-length"), 17 where name.isEqual(at: range, to: "transfer-encoding"): return
    default: append(line: name, value)
    }
  }

  /// Adds a header of another message as the bytes that came.
  public mutating func addField(_ index: Int, of headers: HeaderBlock) {
    let known = headers.known(at: index)
    guard known != .contentLength, known != .transferEncoding else { return }
    let bytes = headers.bytes.span
    append(line: bytes.extracting(headers.nameRange(at: index)), bytes.extracting(headers.valueRange(at: index)))
  }

  /// Ends the head.
  public mutating func endHead(_ framing: Framing) {
    switch framing {
    case .none: append("\r\n")
    case .length(let length):
      append("Content-Length: ")
      append(decimal: length)
      append("\r\n\r\n")
    case .chunked: append("Transfer-Encoding: chunked\r\n\r\n")
    }
  }

  /// Adds a part of a body that was announced with its length.
  public mutating func addBody(_ body: Span<UInt8>) { append(body) }

  /// Adds a chunk. An empty one is left out, because it would end the body.
  public mutating func addChunk(_ chunk: Span<UInt8>) {
    guard !chunk.isEmpty else { return }
    append(String(chunk.count, radix: 16).utf8Span.span)
    append("\r\n")
    addBody(chunk)
    append("\r\n")
  }

  /// Ends a body of chunks, without trailers.
  public mutating func endChunks() { append("0\r\n\r\n") }
}

extension Span<UInt8> {
  fileprivate var isTarget: Bool {
    var index = 0
    while index < count, self[index] > Byte.space, self[index] != Byte.delete { index &+= 1 }
    return index == count && !isEmpty
  }
}

// MARK: Memory

extension MessageWriter {
  /// Makes room for more bytes, and calls `write` with the room.
  @inline(__always) private mutating func append(count more: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
    let end = count + more
    if end > memory.count { grow(to: end) }
    unsafe memory.withUnsafeMutableBytes { unsafe write(UnsafeMutableRawBufferPointer(rebasing: $0[count..<end])) }
    count = end
  }

  @inline(never) private mutating func grow(to end: Int) {
    let room = max(end, 2 * memory.count, Self.firstRoom)
    memory.append(contentsOf: repeatElement(0, count: room - memory.count))
  }

  private mutating func append(_ more: Span<UInt8>) {
    unsafe append(count: more.count) { room in unsafe more.withUnsafeBytes { unsafe room.copyMemory(from: $0) } }
  }

  private mutating func append(_ text: StaticString) {
    unsafe append(count: text.utf8CodeUnitCount) { room in
      unsafe room.copyMemory(from: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
  }

  /// Appends the line of a header.
  private mutating func append(line name: Span<UInt8>, _ value: Span<UInt8>) {
    unsafe append(count: name.count + value.count + 4) { room in
      unsafe name.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      unsafe room[name.count] = Byte.colon
      unsafe room[name.count + 1] = Byte.space
      let behindName = unsafe UnsafeMutableRawBufferPointer(rebasing: room[(name.count + 2)...])
      unsafe value.withUnsafeBytes { unsafe behindName.copyMemory(from: $0) }
      unsafe room[room.count - 2] = Byte.carriageReturn
      unsafe room[room.count - 1] = Byte.lineFeed
    }
  }

  private mutating func append(decimal number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      unsafe append(count: 1) { room in unsafe room[0] = Byte.zero + UInt8(number / divisor % 10) }
      divisor /= 10
    }
  }
}
