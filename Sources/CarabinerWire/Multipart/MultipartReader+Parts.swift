extension MultipartReader {
  // MARK: Headers

  /// Reads a header line of a part; false if more bytes are needed.
  mutating func readHeader() throws(MultipartError) -> Bool {
    if scanned == start, buffer[start...].starts(with: known.block), !known.block.isEmpty {
      headers = known.headers
      beginBody(at: start + known.block.count - 1)
      return true
    }
    guard let lineFeed = DelimiterSearch.lineFeed(in: buffer.span, from: scanned) else {
      scanned = buffer.count
      guard buffer.count - start <= limits.maximumHeaderBytes else { throw headerTooLarge }
      // The body may end with a close delimiter in place of headers.
      guard isFinished, lineStart == start, case .close = delimiter(buffer[lineStart...]) else { return false }
      close()
      return true
    }
    guard lineFeed + 1 - start <= limits.maximumHeaderBytes else { throw headerTooLarge }
    var line = buffer[lineStart..<lineFeed]
    if line.last == 0x0D { line.removeLast() }
    guard let first = line.first else {
      if lineFeed - start < Self.longestKnownBlock { known = (Array(buffer[start...lineFeed]), headers) }
      beginBody(at: lineFeed)
      return true
    }
    if lineStart == start {
      switch delimiter(buffer[lineStart...lineFeed]) {
      case .delimiter:
        beginHeaders(at: lineFeed + 1)
        return true
      case .close:
        close()
        return true
      case .text, .undecided: break
      }
    }
    if first.isBlank, let last = headers.popLast() {
      headers.append(last.continued(by: line))
    } else if let header = MultipartPart.Header(line: line) {
      headers.append(header)
    } else {
      throw MultipartError(
        .malformedHeader,
        "a part's header line \(String(decoding: line.prefix(80), as: UTF8.self).debugDescription) has no name and colon")
    }
    lineStart = lineFeed + 1
    scanned = lineStart
    return true
  }

  /// The headers of a part are kept for the next one if they have fewer bytes.
  private static let longestKnownBlock = 256

  private mutating func beginBody(at lineFeed: Int) {
    state = .body
    start = lineFeed
    scanned = lineFeed
  }

  private var headerTooLarge: MultipartError {
    MultipartError(.headerTooLarge, "the headers of a part are longer than \(limits.maximumHeaderBytes) bytes")
  }

  // MARK: Body

  /// Reads the body of a part; nil if more bytes are needed.
  mutating func readBody() throws(MultipartError) -> MultipartPart? {
    while true {
      let (place, isFound) = search.first(in: buffer.span, from: scanned)
      scanned = place
      // It is not known yet whether a preceding carriage return belongs to the body.
      guard isFound else {
        guard place - 2 - start <= limits.maximumPartBytes else { throw partTooLarge }
        dropHeaders()
        return nil
      }
      let behind = place + search.pattern.count
      let line = partEnd == .atBoundary ? .undecided : lineEnd(behind: behind)
      if partEnd == .atLineEnd {
        if case .text = line {
          scanned = place + 1
          continue
        }
        if case .undecided = line {
          guard place - 2 - start <= limits.maximumPartBytes else { throw partTooLarge }
          return nil
        }
      }
      let body = try bodyRange(endingAt: place)
      switch line {
      case .delimiter(let next):
        let part = takePart(body, next: next)
        beginHeaders(at: start)
        return part
      case .close:
        let part = takePart(body, next: behind)
        close()
        return part
      case .undecided, .text:
        let part = takePart(body, next: behind)
        state = .boundary
        scanned = start
        return part
      }
    }
  }

  private func bodyRange(endingAt place: Int) throws(MultipartError) -> Range<Int> {
    var end = place
    if end > start + 1, buffer[end - 1] == 0x0D { end -= 1 }
    // The line feed that ended the headers may also begin the delimiter.
    let body = min(start + 1, end)..<end
    guard body.count <= limits.maximumPartBytes else { throw partTooLarge }
    return body
  }

  /// Removes everything before an incomplete body, so that the buffer itself can become the body.
  private mutating func dropHeaders() {
    guard start >= 0, scanned > start else { return }
    buffer.removeSubrange(...start)
    scanned -= start + 1
    start = -1
  }

  /// Creates a part from its headers and a range of the buffer. `start` becomes the new place of `next`.
  private mutating func takePart(_ body: Range<Int>, next: Int) -> MultipartPart {
    guard body.lowerBound == 0, body.count >= buffer.capacity / 4, body.count >= buffer.count - next else {
      start = next
      return MultipartPart(headers: headers, body: Array(buffer[body]))
    }
    // The bytes after the body are fewer than the body, so they are copied and the buffer becomes the body.
    var rest: [UInt8] = []
    // Parts of one response are often alike.
    rest.reserveCapacity(buffer.capacity)
    rest.append(contentsOf: buffer[next...])
    swap(&rest, &buffer)
    rest.removeSubrange(body.upperBound...)
    start = 0
    return MultipartPart(headers: headers, body: rest)
  }

  private var partTooLarge: MultipartError {
    MultipartError(
      .partTooLarge, "a part is longer than \(limits.maximumPartBytes) bytes; select fewer fields, or raise the limit")
  }

  // MARK: The rest of a delimiter's line

  /// The text between a boundary and the end of its line.
  enum LineEnd {
    /// Nothing: the next part begins at this place.
    case delimiter(next: Int)
    /// Two hyphens: there are no more parts.
    case close
    /// Text: the line is not a delimiter.
    case text
    /// More bytes are needed to decide.
    case undecided
  }

  /// Reads the text after a boundary that ended before `place`.
  func lineEnd(behind place: Int) -> LineEnd {
    let bytes = buffer.span
    guard place < bytes.count else { return .undecided }
    var place = place
    var isClose = false
    if bytes[place] == UInt8(ascii: "-") {
      guard place + 1 < bytes.count else { return .undecided }
      guard bytes[place + 1] == UInt8(ascii: "-") else { return .text }
      // In this mode the two hyphens are sufficient: no part can contain the line.
      if partEnd == .atBoundary { return .close }
      isClose = true
      place += 2
    }
    let padding = place
    while place < bytes.count, bytes[place].isBlank {
      place += 1
      if place - padding > MultipartLimits.maximumPaddingBytes { return .text }
    }
    if place < bytes.count, bytes[place] == 0x0D { place += 1 }
    guard place < bytes.count else { return isFinished && isClose ? .close : .undecided }
    guard bytes[place] == 0x0A else { return .text }
    return isClose ? .close : .delimiter(next: place + 1)
  }

  /// Whether a whole line is a delimiter.
  private func delimiter(_ line: ArraySlice<UInt8>) -> LineEnd {
    let pattern = search.pattern.dropFirst()
    guard line.starts(with: pattern) else { return .text }
    return lineEnd(behind: line.startIndex + pattern.count)
  }
}
