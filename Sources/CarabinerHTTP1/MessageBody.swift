/// Reads the body of a message and the trailers after it.
struct MessageBody: Sendable {
  private enum State: Sendable {
    case length(remaining: Int)
    case chunks(ChunkReader)
    case trailers(HeadCollector)
    case untilEnd
    case ended
  }

  /// A part of the body, or its end.
  enum Event {
    case needsBytes
    case data(Range<Int>)
    case end
  }

  private var state: State
  /// The differences between requests and responses, for trailers.
  private let rules: FieldRules
  private let maximumFields: Int

  init(_ framing: BodyFraming, _ rules: FieldRules, limits: HTTP1Limits) {
    self.rules = rules
    maximumFields = limits.fields
    state =
      switch framing {
      case .empty, .length(0): .ended
      case .length(let length): .length(remaining: length)
      case .chunked: .chunks(ChunkReader(maximumLineBytes: limits.chunkLineBytes))
      case .untilEnd: .untilEnd
      }
  }

  var isEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// Reads on.
  ///
  /// - Parameters:
  ///   - position: The place of the first byte to read. Afterwards it is the place after the last byte that was read.
  ///   - trailers: Receives the trailers.
  ///   - room: The number of bytes that trailers may still have.
  mutating func next(
    _ bytes: Span<UInt8>, _ position: inout Int, trailers: inout HeaderBlock, room: inout Int
  ) throws(HTTP1Error) -> Event {
    switch state {
    case .ended: return .end
    case _ where position == bytes.count: return .needsBytes
    case .length(let remaining):
      let part = position..<position + Swift.min(remaining, bytes.count - position)
      position = part.upperBound
      state = remaining == part.count ? .ended : .length(remaining: remaining - part.count)
      return .data(part)
    case .untilEnd:
      defer { position = bytes.count }
      return .data(position..<bytes.count)
    case .chunks(var chunks):
      let event = try chunks.next(bytes, &position)
      state = .chunks(chunks)
      switch event {
      case .needsBytes: return .needsBytes
      case .data(let range): return .data(range)
      case .last:
        state = .trailers(HeadCollector(skipsEmptyLines: false))
        return try next(bytes, &position, trailers: &trailers, room: &room)
      }
    case .trailers(var collector):
      let isWhole = try collector.read(bytes, &position, into: &trailers, room: &room)
      state = .trailers(collector)
      guard isWhole else { return .needsBytes }
      try trailers.readFields(from: 0, rules, maximum: maximumFields)
      state = .ended
      return .end
    }
  }

  /// Ends the body because the connection has ended. Returns false if more bytes were expected.
  mutating func connectionEnded() -> Bool {
    if case .untilEnd = state { state = .ended }
    return isEnded
  }
}
