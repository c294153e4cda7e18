internal import NIOCore

/// Reads the ClientHello of a TLS client from bytes in any portions. Each record is read once.
struct ClientHelloReader {
  private static let handshakeRecord: UInt8 = 22
  /// The type, the version and the length of a record.
  private static let headSize = 5

  /// The content of the records that have been read. The message may be spread over records; others may follow it.
  private(set) var handshake = ByteBuffer()
  /// The number of bytes that have been read.
  private var position = 0

  /// Reads the bytes that have arrived since the last call.
  ///
  /// - Parameter sent: All bytes that the client has sent so far.
  mutating func read(_ sent: ByteBuffer) -> ClientHello {
    while let type = sent.getInteger(at: sent.readerIndex + position, as: UInt8.self) {
      guard type == Self.handshakeRecord else { return .other }
      let content = sent.readerIndex + position + Self.headSize
      guard let size = sent.getInteger(at: content - 2, as: UInt16.self),
        let record = sent.getSlice(at: content, length: Int(size))
      else { break }
      handshake.writeImmutableBuffer(record)
      position += Self.headSize + Int(size)
    }
    let hello = ClientHello(handshake)
    return hello == .incomplete && sent.readableBytes >= 2 * ClientHello.maximumSize ? .other : hello
  }
}
