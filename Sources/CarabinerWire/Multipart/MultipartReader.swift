/// Parses a multipart body (RFC 2046) incrementally.
///
/// Add received bytes with ``append(_:)``, call ``next()`` until it returns nil, and call ``finish()`` at the end of the body.
/// The parts and the error do not depend on how the bytes are divided into chunks. Parsing takes linear time, and the reader
/// holds one part in memory.
///
/// Delimiters end with CRLF or LF, which white space may precede. The body may begin with the first delimiter. Bytes before the
/// first and after the last delimiter are ignored. A delimiter directly after another one does not begin a part.
public struct MultipartReader: Sendable {
  /// The point at which a part counts as complete.
  public enum PartEnd: Sendable, Hashable, CaseIterable {
    /// At the end of the delimiter's line, as in RFC 2046. A line with more text after the boundary belongs to the part.
    case atLineEnd
    /// At the boundary itself, for parts that cannot contain such a line, for example JSON.
    ///
    /// Some servers send the boundary with the part before it, and the rest of the line with the next part, perhaps minutes
    /// later. A line with more text after the boundary is an error.
    case atBoundary
  }

  enum State {
    /// Before the first delimiter.
    case preamble
    /// In the headers of a part, the first of which begins at `start`.
    case headers
    /// In the body of a part; `start` is the line feed that ended its headers, -1 if it is no longer in the buffer.
    case body
    /// After the boundary that ended a part; `start` is the place after it.
    case boundary
    /// After the close delimiter.
    case closed
    /// After an error.
    case failed(MultipartError)
  }

  let limits: MultipartLimits
  let partEnd: PartEnd
  let search: DelimiterSearch
  var state = State.preamble
  /// The bytes that are received and not consumed. A line feed is put before the first byte, because the body may begin with a
  /// delimiter.
  var buffer: [UInt8] = [0x0A]
  /// The offset that the state refers to.
  var start = 0
  /// The offset from which the buffer has not been searched.
  var scanned = 0
  /// The offset of the current header line.
  var lineStart = 0
  var headers: [MultipartPart.Header] = []
  /// The bytes and the headers of the part before, up to the line feed before its body. Parts of one body often have the same.
  var known: (block: [UInt8], headers: [MultipartPart.Header]) = ([], [])
  /// Bytes before the first delimiter that are no longer in the buffer.
  private var preambleBytes = 0
  /// Whether the body has ended.
  private(set) var isFinished = false

  /// Creates a reader for a body with this boundary.
  public init(boundary: MultipartBoundary, partEnd: PartEnd = .atLineEnd, limits: MultipartLimits = MultipartLimits()) {
    self.limits = limits
    self.partEnd = partEnd
    search = DelimiterSearch(boundary)
  }

  /// Whether the close delimiter was received, so that there are no more parts.
  public var isClosed: Bool { if case .closed = state { true } else { false } }

  /// Adds received bytes.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    switch state {
    case .closed, .failed: return
    case .preamble, .headers, .body, .boundary: break
    }
    // The buffer is moved only when most of it is consumed, so that each byte is moved once on average.
    if start >= buffer.count - start {
      buffer.removeSubrange(..<start)
      scanned -= start
      lineStart -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Ends the body.
  public mutating func finish() { isFinished = true }

  /// Returns the next part; nil if more bytes are needed, or if there are no more parts.
  ///
  /// - Throws: ``MultipartError``. All later calls throw the same error.
  public mutating func next() throws(MultipartError) -> MultipartPart? {
    do throws(MultipartError) {
      while true {
        switch state {
        case .preamble: guard try skipPreamble() else { return try end() }
        case .headers: guard try readHeader() else { return try end() }
        case .body:
          guard let part = try readBody() else { return try end() }
          return part
        case .boundary: guard try passBoundary() else { return try end() }
        case .closed: return nil
        case .failed(let error): throw error
        }
      }
    } catch {
      state = .failed(error)
      buffer = []
      throw error
    }
  }

  /// Returns nil if more bytes are needed; throws if the body has ended too early.
  func end<Value>() throws(MultipartError) -> Value? {
    guard isFinished, !isClosed else { return nil }
    switch state {
    case .preamble:
      throw MultipartError(
        .truncated,
        "the body ended, and the boundary of its Content-Type never came; the server uses another boundary, or sent no parts"
      )
    default:
      throw MultipartError(.truncated, "the body ended without the close delimiter; the server or a proxy closed the connection")
    }
  }

  // MARK: Before the first delimiter

  /// Searches the first delimiter; false if more bytes are needed.
  mutating func skipPreamble() throws(MultipartError) -> Bool {
    while true {
      let (place, isFound) = search.first(in: buffer.span, from: scanned)
      guard preambleBytes + place - start <= limits.maximumPartBytes + 2 else {
        throw MultipartError(.partTooLarge, "the first part does not begin within \(limits.maximumPartBytes) bytes")
      }
      scanned = place
      let line = isFound ? lineEnd(behind: place + search.pattern.count) : .undecided
      switch line {
      case .delimiter(let next):
        beginHeaders(at: next)
        return true
      case .close:
        close()
        return true
      case .text: scanned = place + 1
      case .undecided:
        // The bytes before the place are not needed any more.
        preambleBytes += min(place, buffer.count) - start
        start = min(place, buffer.count)
        return false
      }
    }
  }

  // MARK: Between two parts

  /// Reads the text after the boundary of a part. Returns false if more bytes are needed.
  mutating func passBoundary() throws(MultipartError) -> Bool {
    switch lineEnd(behind: start) {
    case .delimiter(let next): beginHeaders(at: next)
    case .close: close()
    case .undecided: return false
    case .text:
      throw MultipartError(
        .malformedDelimiter,
        "text follows the boundary in its line; the server must use a boundary that its parts do not contain")
    }
    return true
  }

  mutating func beginHeaders(at place: Int) {
    state = .headers
    start = place
    scanned = place
    lineStart = place
    headers = []
  }

  mutating func close() {
    state = .closed
    buffer = []
    start = 0
    scanned = 0
  }
}
