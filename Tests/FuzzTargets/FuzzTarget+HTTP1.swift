internal import CarabinerHTTP1

extension FuzzTarget {
  /// The parts that a reader of HTTP/1.1 reported, independent of the portions of bytes.
  private struct Reading: Equatable {
    var interim: [Int] = []
    var head: [String]?
    var body: [UInt8] = []
    var trailers: [String] = []
    /// The number of bytes of the message, if it is complete.
    var length: Int?
    var isReusable = false
    var error: HTTP1Error?

    static func fields(_ headers: HeaderBlock) -> [String] {
      (0..<headers.count).flatMap { [headers.name(at: $0), headers.value(at: $0)] }
    }
  }

  /// Small limits, so that inputs can exceed them.
  private static let limits = {
    var limits = HTTP1Limits()
    (limits.headBytes, limits.fields, limits.chunkLineBytes) = (400, 6, 16)
    return limits
  }()

  private func portions(of bytes: [UInt8], _ size: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: bytes.count, by: max(size, 1)).map { bytes[$0..<min($0 + max(size, 1), bytes.count)] }
  }

  // MARK: Responses

  func checkResponse(_ bytes: [UInt8]) throws {
    for isHead in [false, true] {
      let whole = response(bytes, bytes.count, isHead: isHead)
      for size in [1, 2, 7] {
        try require(response(bytes, size, isHead: isHead) == whole, "portions of \(size) bytes are read as something else")
      }
      try require(whole.error == nil || !whole.isReusable && whole.length == nil, "a connection is used again after an error")
      try require(whole.body.count <= bytes.count && !(isHead && !whole.body.isEmpty), "a body has more bytes than came")
    }
    try checkCopy(bytes)
  }

  private func response(_ bytes: [UInt8], _ size: Int, isHead: Bool) -> Reading {
    var reader = ResponseReader(limits: Self.limits)
    var reading = Reading()
    reader.begin(isHead: isHead)
    do throws(HTTP1Error) {
      for portion in portions(of: bytes, size) where reading.length == nil { try read(portion, &reader, &reading) }
    } catch {
      reading.error = error
    }
    reading.isReusable = reader.isReusable
    return reading
  }

  private func read(_ portion: ArraySlice<UInt8>, _ reader: inout ResponseReader, _ reading: inout Reading) throws(HTTP1Error) {
    let bytes = Array(portion)
    var position = 0
    while true {
      switch try reader.next(bytes.span, &position) {
      case .needsBytes: return
      case .interim(let status): reading.interim.append(status)
      case .head: reading.head = ["\(reader.status)"] + Reading.fields(reader.headers)
      case .body(let range): reading.body += bytes[range]
      case .end:
        reading.trailers = Reading.fields(reader.trailers)
        reading.length = portion.startIndex + position
        return
      }
    }
  }

  /// Headers that are copied to another message are read there as the same.
  private func checkCopy(_ bytes: [UInt8]) throws {
    var reader = ResponseReader(limits: Self.limits)
    reader.begin(isHead: true)
    var position = 0
    guard (try? reader.next(bytes.span, &position)) == .head else { return }
    var writer = MessageWriter()
    try writer.beginResponse(status: reader.status, reason: "")
    for index in 0..<reader.headers.count { writer.addField(index, of: reader.headers) }
    writer.endHead(.none)
    var again = ResponseReader()
    again.begin(isHead: true)
    position = 0
    try require((try? again.next(writer.bytes.span, &position)) == .head, "a copied head cannot be read")
    let framing = ["content-length", "transfer-encoding"]
    let copied = (0..<reader.headers.count).filter { !framing.contains(reader.headers.name(at: $0).lowercased()) }
    try require(
      Reading.fields(again.headers) == copied.flatMap { [reader.headers.name(at: $0), reader.headers.value(at: $0)] },
      "a header changes when it is copied")
  }

  // MARK: Requests

  func checkRequest(_ bytes: [UInt8]) throws {
    let whole = request(bytes, bytes.count)
    for size in [1, 2, 7] {
      try require(request(bytes, size) == whole, "portions of \(size) bytes are read as something else")
    }
    try require(whole.body.count <= bytes.count, "a body has more bytes than came")
    if let error = whole.error { try require((400...505).contains(error.status), "a fault has no status") }
  }

  private func request(_ bytes: [UInt8], _ size: Int) -> Reading {
    var reader = RequestReader(limits: Self.limits)
    var reading = Reading()
    reader.begin()
    do throws(HTTP1Error) {
      for portion in portions(of: bytes, size) where reading.length == nil { try read(portion, &reader, &reading) }
    } catch {
      reading.error = error
    }
    reading.isReusable = reader.keepsConnection
    return reading
  }

  private func read(_ portion: ArraySlice<UInt8>, _ reader: inout RequestReader, _ reading: inout Reading) throws(HTTP1Error) {
    let bytes = Array(portion)
    var position = 0
    while true {
      switch try reader.next(bytes.span, &position) {
      case .needsBytes: return
      case .head:
        let parts = [reader.methodRange, reader.targetRange, reader.authorityRange ?? 0..<0]
        reading.head = parts.map { String(decoding: reader.headers.bytes[$0], as: UTF8.self) } + Reading.fields(reader.headers)
      case .body(let range): reading.body += bytes[range]
      case .end:
        reading.trailers = Reading.fields(reader.trailers)
        reading.length = portion.startIndex + position
        return
      }
    }
  }
}
