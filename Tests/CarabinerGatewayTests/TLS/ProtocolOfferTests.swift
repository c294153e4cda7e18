import NIOCore
import NIOEmbedded
import Testing

@testable import CarabinerGateway

/// The protocols that TLS clients offer (RFC 7301).
@Suite("ALPN")
struct ProtocolOfferTests {
  /// A ClientHello that offers these protocols; without the extension if there are none.
  private static func hello(_ protocols: [String], recordSize: Int = 1 << 14) -> [UInt8] {
    func prefixed(_ bytes: [UInt8], _ width: Int) -> [UInt8] {
      (0..<width).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) } + bytes
    }
    let names = prefixed(protocols.flatMap { prefixed(Array($0.utf8), 1) }, 2)
    let extensions: [UInt8] = [0, 10] + prefixed([0, 2, 0, 29], 2) + (protocols.isEmpty ? [] : [0, 16] + prefixed(names, 2))
    let body =
      [3, 3] + Array(repeating: 7, count: 32) + prefixed(Array(repeating: 1, count: 32), 1) + prefixed([0x13, 1], 2)
      + prefixed([0], 1) + prefixed(extensions, 2)
    let message = [1] + prefixed(body, 3)
    return stride(from: 0, to: message.count, by: recordSize).flatMap {
      [22, 3, 1] + prefixed(Array(message[$0..<min($0 + recordSize, message.count)]), 2)
    }
  }

  /// The bytes that are passed on, and the bytes that are sent to the client. The input arrives byte by byte.
  private func exchange(_ bytes: [UInt8]) throws -> (passed: [UInt8], sent: [UInt8], isOpen: Bool) {
    let channel = EmbeddedChannel(handler: ProtocolOffer(["h2", "http/1.1"]))
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
    var passed: [UInt8] = []
    for byte in bytes where channel.isActive { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
    while let piece = try channel.readInbound(as: ByteBuffer.self) { passed += Array(buffer: piece) }
    var sent: [UInt8] = []
    while let piece = try channel.readOutbound(as: ByteBuffer.self) { sent += Array(buffer: piece) }
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    return (passed, sent, channel.isActive)
  }

  @Test("an offer with a supported protocol is accepted, and so is a missing offer", arguments: [["h2"], ["x", "http/1.1"], []])
  func passes(_ protocols: [String]) throws {
    for size in [1 << 14, 50] {
      let bytes = Self.hello(protocols, recordSize: size)
      let (passed, sent, isOpen) = try exchange(bytes)
      #expect(passed == bytes && sent.isEmpty && isOpen)
    }
  }

  @Test(
    "an offer without one is answered with the alert no_application_protocol (RFC 7301, 3.2)", arguments: [["x"], ["h2c", "h3"]])
  func alert(_ protocols: [String]) throws {
    for size in [1 << 14, 50] {
      let (passed, sent, isOpen) = try exchange(Self.hello(protocols, recordSize: size))
      #expect(passed.isEmpty && sent == [21, 3, 3, 0, 2, 2, 120] && !isOpen)
    }
  }

  @Test(
    "bytes that are not such a message pass, for the TLS library to refuse",
    arguments: [
      Array("GET / HTTP/1.1\r\n\r\n".utf8), [21, 3, 1, 0, 2, 2, 120], [22, 3, 1, 0, 4, 2, 0, 0, 0],
      [22, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF], [22, 3, 1, 0, 5, 1, 0, 0, 1, 3],
    ] as [[UInt8]])
  func noise(_ bytes: [UInt8]) throws {
    let (passed, sent, isOpen) = try exchange(bytes)
    #expect(passed == bytes && sent.isEmpty && isOpen)
  }
}
