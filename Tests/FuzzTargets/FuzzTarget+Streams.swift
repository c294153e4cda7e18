internal import CarabinerWire

extension FuzzTarget {
  // MARK: Parts in pieces

  private struct PieceReading: Equatable {
    var parts: [MultipartPart] = []
    var error: MultipartError?
    /// The most bytes of one piece.
    var longest = 0
  }

  /// Parts that are read in pieces are those that are read whole, at any chunking.
  func checkPieces(_ bytes: [UInt8], _ boundary: MultipartBoundary) throws {
    let limits = MultipartLimits(maximumPartBytes: bytes.count + 1, maximumHeaderBytes: 200)
    var reader = MultipartReader(boundary: boundary, partEnd: .atLineEnd, limits: limits)
    var parts: [MultipartPart] = []
    reader.append(bytes)
    reader.finish()
    while let part = try? reader.next() { parts.append(part) }
    for chunk in [bytes.count, 1, 3] {
      let reading = Self.pieces(bytes, boundary, limits, chunk: max(chunk, 1))
      try require(reading.longest <= bytes.count, "a piece is longer than what it came in")
      // The last part may be incomplete.
      let whole = reading.error == nil ? reading.parts : Array(reading.parts.prefix(parts.count))
      try require(whole == parts, "pieces of chunks of \(chunk) bytes make other parts: \(reading)")
    }
  }

  private static func pieces(
    _ bytes: [UInt8], _ boundary: MultipartBoundary, _ limits: MultipartLimits, chunk: Int
  ) -> PieceReading {
    var reader = MultipartReader(boundary: boundary, partEnd: .atLineEnd, limits: limits)
    var reading = PieceReading()
    func take(_ piece: MultipartPiece) {
      switch piece {
      case .part(let headers): reading.parts.append(MultipartPart(headers: headers, body: []))
      case .bytes(let bytes):
        reading.longest = max(reading.longest, bytes.count)
        guard let last = reading.parts.popLast() else { return }
        reading.parts.append(MultipartPart(headers: last.headers, body: last.body + bytes))
      }
    }
    do throws(MultipartError) {
      var place = 0
      while place < bytes.count {
        let end = min(place + chunk, bytes.count)
        reader.append(bytes[place..<end])
        while let piece = try reader.nextPiece() { take(piece) }
        place = end
      }
      reader.finish()
      while let piece = try reader.nextPiece() { take(piece) }
    } catch {
      reading.error = error
    }
    return reading
  }

  // MARK: Events

  private struct EventReading: Equatable {
    var events: [StreamedEvent] = []
    var isTooLarge = false
  }

  func checkEvents(_ bytes: [UInt8]) throws {
    // A small limit, so that inputs can exceed it.
    let limit = 300
    func read(chunk: Int) -> EventReading {
      var reader = EventReader(maximumEventBytes: limit)
      var reading = EventReading()
      do throws(EventTooLarge) {
        var place = 0
        while place < bytes.count {
          let end = min(place + chunk, bytes.count)
          reader.append(bytes[place..<end])
          while let event = try reader.next() { reading.events.append(event) }
          place = end
        }
      } catch {
        reading.isTooLarge = true
      }
      return reading
    }
    let whole = read(chunk: max(bytes.count, 1))
    for chunk in [1, 2, 7] {
      try require(read(chunk: chunk) == whole, "chunks of \(chunk) bytes are read as something else")
    }
    for event in whole.events { try require(event.data.count <= limit, "an event is longer than the limit") }
  }
}
