import CarabinerWire
import TestTools
import Testing

@Suite("A multipart body read in pieces has the same parts as one read part by part")
struct MultipartPiecesTests {
  /// Joins the pieces of each part.
  private func reading(
    _ chunks: some Sequence<ArraySlice<UInt8>>, _ boundary: String
  ) throws -> (parts: [MultipartPart], error: MultipartError.Code?) {
    var reader = MultipartReader(boundary: try MultipartBoundary(boundary))
    var parts: [MultipartPart] = []
    func take() throws(MultipartError) {
      while let piece = try reader.nextPiece() {
        switch piece {
        case .part(let headers): parts.append(MultipartPart(headers: headers, body: []))
        case .bytes(let bytes):
          #expect(!bytes.isEmpty)
          if let last = parts.popLast() { parts.append(MultipartPart(headers: last.headers, body: last.body + bytes)) }
        }
      }
    }
    do throws(MultipartError) {
      for chunk in chunks {
        reader.append(chunk)
        try take()
      }
      reader.finish()
      try take()
    } catch {
      return (parts, error.code)
    }
    return (parts, nil)
  }

  @Test("every place to cut a body in two, and one byte at a time", arguments: MultipartChunkingTests.documents)
  func everySplit(document: MultipartChunkingTests.Document) throws {
    let bytes = document.bytes
    let whole = try MultipartReading([bytes[...]], boundary: document.boundary)
    for place in 0...bytes.count {
      let cut = try reading([bytes[..<place], bytes[place...]], document.boundary)
      // The last part of a body that is broken off has begun.
      #expect(whole.error == cut.error, "cut at \(place)")
      #expect(Array(cut.parts.prefix(whole.parts.count)) == whole.parts, "cut at \(place)")
      if whole.error == nil { #expect(cut.parts.count == whole.parts.count, "cut at \(place)") }
    }
    let single = try reading(bytes.indices.map { bytes[$0...$0] }, document.boundary)
    #expect(single.error == whole.error)
    #expect(Array(single.parts.prefix(whole.parts.count)) == whole.parts)
  }

  @Test("a part above the limit for parts is passed on, and the reader keeps none of it")
  func longPart() throws {
    let chunk = [UInt8](repeating: UInt8(ascii: "\n"), count: 64 << 10)
    var reader = MultipartReader(
      boundary: try MultipartBoundary("b"), limits: MultipartLimits(maximumPartBytes: 1, maximumHeaderBytes: 100))
    reader.append(Array("--b\r\n\r\n".utf8))
    #expect(try reader.nextPiece() == .part([]))
    var received = 0
    for _ in 0..<64 {
      reader.append(chunk)
      while case .bytes(let bytes)? = try reader.nextPiece() { received += bytes.count }
    }
    reader.append(Array("\r\n--b--".utf8))
    reader.finish()
    while case .bytes(let bytes)? = try reader.nextPiece() { received += bytes.count }
    #expect(received == 64 * chunk.count)
    #expect(reader.isClosed)
  }
}
