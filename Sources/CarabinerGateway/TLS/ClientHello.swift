internal import NIOCore

/// The ClientHello of a TLS client, parsed as far as the ALPN extension (RFC 8446, 4.1.2; RFC 7301, 3.1).
enum ClientHello: Sendable, Hashable {
  /// More bytes are needed.
  case incomplete
  /// The client offers no ALPN protocols, or the message cannot be parsed.
  case other
  /// The protocols the client offers.
  case offers([String])

  private static let handshakeRecord: UInt8 = 22
  private static let clientHello: UInt8 = 1
  private static let alpnExtension: UInt16 = 16
  /// The maximum size of a message that is parsed, in bytes.
  private static let maximumSize = 64 << 10

  /// Parses the bytes that a client has sent so far.
  init(_ sent: ByteBuffer) {
    guard sent.readableBytes == 0 || sent.getInteger(at: sent.readerIndex, as: UInt8.self) == Self.handshakeRecord else {
      self = .other
      return
    }
    // The message may be spread over records; others may follow it.
    var (records, message) = (sent, ByteBuffer())
    while records.readInteger(as: UInt8.self) == Self.handshakeRecord, records.readInteger(as: UInt16.self) != nil,
      var record = records.readLengthPrefixedSlice(as: UInt16.self)
    {
      message.writeBuffer(&record)
    }
    guard message.readableBytes >= 4 else {
      self = sent.readableBytes < Self.maximumSize ? .incomplete : .other
      return
    }
    guard message.readInteger(as: UInt8.self) == Self.clientHello, let high = message.readInteger(as: UInt8.self),
      let low = message.readInteger(as: UInt16.self)
    else {
      self = .other
      return
    }
    let size = Int(high) << 16 | Int(low)
    guard let hello = message.readSlice(length: size) else {
      self = size < Self.maximumSize && sent.readableBytes < 2 * Self.maximumSize ? .incomplete : .other
      return
    }
    self = Self.protocols(hello).map { .offers($0) } ?? .other
  }

  private static func protocols(_ hello: ByteBuffer) -> [String]? {
    var hello = hello
    // Version and random number, session, cipher suites, compression methods.
    guard hello.readSlice(length: 34) != nil, hello.readLengthPrefixedSlice(as: UInt8.self) != nil,
      hello.readLengthPrefixedSlice(as: UInt16.self) != nil, hello.readLengthPrefixedSlice(as: UInt8.self) != nil,
      var extensions = hello.readLengthPrefixedSlice(as: UInt16.self)
    else { return nil }
    while let kind = extensions.readInteger(as: UInt16.self), var content = extensions.readLengthPrefixedSlice(as: UInt16.self) {
      guard kind == alpnExtension else { continue }
      guard var list = content.readLengthPrefixedSlice(as: UInt16.self) else { return nil }
      var names: [String] = []
      while let name = list.readLengthPrefixedSlice(as: UInt8.self) { names.append(String(buffer: name)) }
      return names
    }
    return nil
  }
}
