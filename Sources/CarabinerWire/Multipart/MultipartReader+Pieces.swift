extension MultipartReader {
  /// Returns the next piece; nil if more bytes are needed, or if there are no more parts.
  ///
  /// The bytes of a part are returned as they arrive, so the limit for parts does not apply to them, and the reader holds no more than
  /// the bytes that were added last. A reader is used either with ``next()`` or with this method, and only with `atLineEnd`.
  ///
  /// - Throws: ``MultipartError``. All later calls throw the same error.
  public mutating func nextPiece() throws(MultipartError) -> MultipartPiece? {
    do throws(MultipartError) {
      while true {
        switch state {
        case .preamble: guard try skipPreamble() else { return try end() }
        case .headers:
          guard try readHeader() else { return try end() }
          if case .body = state { return .part(headers) }
        case .body:
          if let bytes = readBytes() { return .bytes(bytes) }
          if case .body = state { return try end() }
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

  /// Reads bytes of a part, up to a place where its delimiter may begin.
  ///
  /// - Returns: Nil if more bytes are needed, or if the part has ended: the state is another one then.
  private mutating func readBytes() -> [UInt8]? {
    while true {
      let (place, isFound) = search.first(in: buffer.span, from: scanned)
      scanned = place
      let behind = place + search.pattern.count
      let line = isFound ? lineEnd(behind: behind) : .undecided
      if case .text = line {
        scanned = place + 1
        continue
      }
      // The carriage return before a delimiter does not belong to the part.
      var end = place
      if end > start + 1, buffer[end - 1] == 0x0D { end -= 1 }
      // The line feed that ended the headers may also begin the delimiter.
      let first = min(start + 1, end)
      if first < end {
        // `start` is the place before the bytes that are left.
        start = end - 1
        return Array(buffer[first..<end])
      }
      switch line {
      case .delimiter(let next): beginHeaders(at: next)
      case .close: close()
      case .text, .undecided: break
      }
      return nil
    }
  }
}
