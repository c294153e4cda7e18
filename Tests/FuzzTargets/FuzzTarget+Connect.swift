internal import CarabinerWire

extension FuzzTarget {
  // MARK: Envelopes

  private struct Reading: Equatable {
    var envelopes: [Envelope] = []
    var error: EnvelopeError?
  }

  func checkEnvelopes(_ bytes: [UInt8]) throws {
    for flags in [Envelope.compressed | Envelope.endOfStream, Envelope.compressed | Envelope.trailers] {
      let whole = Self.read(bytes, flags, chunk: max(bytes.count, 1))
      for chunk in [1, 2, 7] {
        try require(Self.read(bytes, flags, chunk: chunk) == whole, "chunks of \(chunk) bytes are read as something else")
      }
      // Written again, they are the beginning of the input.
      let written = whole.envelopes.flatMap { (Envelope.prefix(flags: $0.flags, length: $0.bytes.count) ?? []) + $0.bytes }
      try require(bytes.starts(with: written), "an envelope changes when it is written")
      try require(whole.error != nil || written.count == bytes.count, "bytes are lost")
    }
  }

  private static func read(_ bytes: [UInt8], _ flags: UInt8, chunk: Int) -> Reading {
    // A small limit, so that inputs can exceed it.
    var reader = EnvelopeReader(allowedFlags: flags, maximumBytes: 1000)
    var reading = Reading()
    do throws(EnvelopeError) {
      var place = 0
      while place < bytes.count {
        let end = min(place + chunk, bytes.count)
        reader.append(bytes[place..<end])
        while let envelope = try reader.next() { reading.envelopes.append(envelope) }
        place = end
      }
      reader.finish()
      while let envelope = try reader.next() { reading.envelopes.append(envelope) }
    } catch {
      reading.error = error
    }
    return reading
  }

  // MARK: Errors

  func checkConnectError(_ bytes: [UInt8]) throws {
    let object = (try? JSONValue(parsing: bytes))?.object
    let error = ConnectErrorBody(parsing: bytes)
    let end = EndOfStream(parsing: bytes)
    try require((error == nil) == (object == nil), "the reader of errors and that of JSON disagree")
    try require(object != nil || end == nil, "an end of a stream is read of something else than an object")
    for detail in error?.details ?? [] {
      guard let payload = detail.payload else { continue }
      try require(Base64.decoded(Base64.urlEncoded(payload)) == payload, "a payload changes when it is written")
    }
    for (name, values) in end?.metadata ?? [:] {
      try require(HeaderFields.lowercased(name) == name && !values.isEmpty, "a trailer has no value, or a name in upper case")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    for name in ["x-list", "date"] {
      let values = HeaderFields.values(of: text, for: name)
      try require(!values.isEmpty && (values.count == 1 || !values.contains("")), "a field has an empty element")
      try require(values.reduce(0) { $0 + $1.utf8.count } <= bytes.count, "the values are longer than the field")
    }
  }

  // MARK: Trailers

  func checkTrailers(_ bytes: [UInt8]) throws {
    let block = TrailerBlock(parsing: bytes)
    for (name, values) in block.fields {
      try require(!name.isEmpty && HeaderFields.lowercased(name) == name && !values.isEmpty, "a trailer has no name or no value")
    }
    try require(block.status == nil || block.hasStatus, "there is a number without a status")
    for detail in block.details { try require(detail.payload != nil, "a detail of a status has no payload") }
    _ = block.message
    for detail in StatusMessage(parsing: bytes)?.details ?? [] {
      try require((detail.payload?.count ?? 0) <= bytes.count, "a payload is longer than what it came in")
    }
  }
}
