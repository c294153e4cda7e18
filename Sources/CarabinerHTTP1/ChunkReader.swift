/// Reads the chunked coding (RFC 9112, 7.1) up to the line of the last chunk.
struct ChunkReader: Sendable {
  private enum State {
    /// In the digits of a size.
    case size(digits: Int)
    /// In the extensions of a chunk, or in spaces before them.
    case extensions
    /// After the carriage return of the line of a size.
    case sizeEnd
    case data
    /// At the line end after the bytes of a chunk.
    case dataEnd
    case dataLineFeed
    case last
  }

  /// A part of the body, or its end.
  enum Event {
    case needsBytes
    case data(Range<Int>)
    /// The line of the last chunk was read. Trailers follow.
    case last
  }

  private var state = State.size(digits: 0)
  /// The bytes of the chunk that have not been read, or its size so far.
  private var remaining = 0
  private var lineBytes = 0
  private let maximumLineBytes: Int
  /// A size of more digits does not fit an Int.
  private static let maximumDigits = 15

  init(maximumLineBytes: Int) { self.maximumLineBytes = maximumLineBytes }

  mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTP1Error) -> Event {
    while position < bytes.count {
      if case .data = state {
        let end = Swift.min(bytes.count - position, remaining) + position
        defer { position = end }
        remaining -= end - position
        if remaining == 0 { state = .dataEnd }
        return .data(position..<end)
      }
      try take(bytes[position])
      position += 1
      if case .last = state { return .last }
    }
    return .needsBytes
  }

  private mutating func take(_ byte: UInt8) throws(HTTP1Error) {
    switch state {
    case .size(let digits):
      try countLine()
      guard let digit = Self.hexadecimal(byte) else {
        guard digits > 0 else { throw HTTP1Error(.malformedChunk, "the size of a chunk is not a number") }
        return try endSize(byte)
      }
      guard digits < Self.maximumDigits else { throw HTTP1Error(.malformedChunk, "the size of a chunk is too large") }
      remaining = remaining << 4 | digit
      state = .size(digits: digits + 1)
    case .extensions:
      try countLine()
      if byte == Byte.carriageReturn {
        state = .sizeEnd
        return
      }
      guard byte >= Byte.space || byte == Byte.tab, byte != Byte.delete else {
        throw HTTP1Error(.malformedChunk, "the line of a chunk has a control character in it")
      }
    case .sizeEnd:
      try require(byte, Byte.lineFeed)
      state = remaining == 0 ? .last : .data
    case .dataEnd:
      try require(byte, Byte.carriageReturn)
      state = .dataLineFeed
    case .dataLineFeed:
      try require(byte, Byte.lineFeed)
      (state, lineBytes) = (.size(digits: 0), 0)
    case .data, .last: break
    }
  }

  private mutating func endSize(_ byte: UInt8) throws(HTTP1Error) {
    switch byte {
    case Byte.carriageReturn: state = .sizeEnd
    case UInt8(ascii: ";"), Byte.space, Byte.tab: state = .extensions
    default: throw HTTP1Error(.malformedChunk, "the size of a chunk is not a number")
    }
  }

  private mutating func countLine() throws(HTTP1Error) {
    lineBytes += 1
    guard lineBytes <= maximumLineBytes else { throw HTTP1Error(.malformedChunk, "the line before a chunk is too long") }
  }

  private func require(_ byte: UInt8, _ expected: UInt8) throws(HTTP1Error) {
    guard byte == expected else { throw HTTP1Error(.malformedChunk, "a chunk or its size does not end with CR LF") }
  }

  private static func hexadecimal(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
