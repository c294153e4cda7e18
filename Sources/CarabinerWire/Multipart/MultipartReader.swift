/// Takes a multipart body (RFC 2046) apart as it comes: bytes in, parts out.
///
/// Hand it what arrived with ``append(_:)``, ask for parts with ``next()`` until there is none, and say with ``finish()`` that
/// nothing more will come. However the bytes are cut into chunks, the parts and the error are the same. Time is linear in the
/// bytes, and memory holds one part.
///
/// Delimiters end with CRLF or LF, white space may stand before that, and the first may open the body. What stands before the
/// first and behind the last is ignored. A delimiter right behind another opens no part.
public struct MultipartReader: Sendable {
  /// When a part counts as ended.
  public enum PartEnd: Sendable, Hashable, CaseIterable {
    /// With the line of its delimiter, as RFC 2046 has it: a line that goes on behind the boundary belongs to the part.
    case atLineEnd
    /// With the boundary itself, for parts that cannot contain a line with it, as JSON cannot.
    ///
    /// Servers send the boundary with the part it ends, and the rest of the line with the next part, perhaps minutes later. A line
    /// that goes on behind the boundary is an error.
    case atBoundary
  }

  enum State {
    /// Before the first delimiter.
    case preamble
    /// In the headers of a part, the first of which begins at `start`.
    case headers
    /// In the body of a part; `start` is the line feed that ended its headers, -1 if it is not in the buffer any more.
    case body
    /// Behind the boundary that ended a part; `start` is what follows it.
    case boundary
    /// Behind the close delimiter.
    case closed
    /// Behind a fault.
    case failed(MultipartError)
  }

  let limits: MultipartLimits
  let partEnd: PartEnd
  let search: DelimiterSearch
  var state = State.preamble
  /// The bytes that have arrived and are not consumed. A line feed before the first byte makes the beginning of the body that of a line.
  var buffer: [UInt8] = [0x0A]
  /// Where in the buffer that begins which the state is about.
  var start = 0
  /// From where on the buffer has not been looked through.
  var scanned = 0
  /// Where the header line begins that is being read.
  var lineStart = 0
  var headers: [MultipartPart.Header] = []
  /// Bytes before the first delimiter that are no longer in the buffer.
  private var preambleBytes = 0
  /// Whether nothing more will come.
  private(set) var isFinished = false

  /// A reader of a body with this boundary.
  public init(boundary: MultipartBoundary, partEnd: PartEnd = .atLineEnd, limits: MultipartLimits = MultipartLimits()) {
    self.limits = limits
    self.partEnd = partEnd
    search = DelimiterSearch(boundary)
  }

  /// Whether the close delimiter has arrived, so that there are no more parts.
  public var isClosed: Bool { if case .closed = state { true } else { false } }

  /// Adds bytes that have arrived.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    switch state {
    case .closed, .failed: return
    case .preamble, .headers, .body, .boundary: break
    }
    // Moved only when most of it is used up, so that each byte is moved once on average.
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

  /// The next part; nil if more bytes are needed, or if there is none.
  ///
  /// - Throws: ``MultipartError``, and the same one from then on.
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

  /// There is nothing to read for now; an error if there never will be.
  private func end() throws(MultipartError) -> MultipartPart? {
    guard isFinished, !isClosed else { return nil }
    switch state {
    case .preamble:
      throw MultipartError(
        .truncated,
        "the body ended, and the boundary its Content-Type names never came; the server writes another boundary, or sent no parts"
      )
    default:
      throw MultipartError(.truncated, "the body ended without the close delimiter; the server or something on the way broke off")
    }
  }

  // MARK: Before the first delimiter

  /// Looks for the first delimiter; false if it takes more bytes.
  private mutating func skipPreamble() throws(MultipartError) -> Bool {
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
        // Nothing before the place is needed any more.
        preambleBytes += min(place, buffer.count) - start
        start = min(place, buffer.count)
        return false
      }
    }
  }

  // MARK: Between two parts

  /// Reads the text after the boundary of a part. Returns false if more bytes are needed.
  private mutating func passBoundary() throws(MultipartError) -> Bool {
    switch lineEnd(behind: start) {
    case .delimiter(let next): beginHeaders(at: next)
    case .close: close()
    case .undecided: return false
    case .text:
      throw MultipartError(
        .malformedDelimiter,
        "something follows the boundary in its line; the server must send a boundary its parts do not contain")
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
