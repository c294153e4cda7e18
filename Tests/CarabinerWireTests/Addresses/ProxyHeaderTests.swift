import CarabinerWire
import TestTools
import Testing

@Suite("The header of the PROXY protocol")
struct ProxyHeaderTests {
  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

  private static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
    let length = length ?? rest.count
    return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
  }

  private static let v4: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x30, 0x39, 0x01, 0xBB]
  private static let v6: [UInt8] =
    [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7] + Array(repeating: 0, count: 15) + [
      1, 0x30, 0x39, 0x01, 0xBB,
    ]

  private static let whole: [(String, [UInt8], String?)] = [
    ("version 1, IPv4", Array("PROXY TCP4 192.0.2.7 10.0.0.1 12345 443\r\n".utf8), "192.0.2.7"),
    ("version 1, IPv6", Array("PROXY TCP6 2001:db8::7 ::1 12345 443\r\n".utf8), "2001:db8::7"),
    ("version 1, unknown", Array("PROXY UNKNOWN\r\n".utf8), nil),
    ("version 1, unknown with addresses", Array("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".utf8), nil),
    (
      "the longest line of version 1",
      Array("PROXY UNKNOWN \(Array(repeating: "ffff:", count: 15).joined())f 65535 65535\r\n".utf8), nil
    ),
    ("version 2, IPv4", binary(0x21, 0x11, v4), "192.0.2.7"), ("version 2, IPv6", binary(0x21, 0x21, v6), "2001:db8::7"),
    ("version 2, IPv4 with more", binary(0x21, 0x11, v4 + [0x04, 0x00, 0x01, 0x00]), "192.0.2.7"),
    ("version 2, the longest", binary(0x21, 0x11, v4 + Array(repeating: 0, count: 508)), "192.0.2.7"),
    ("version 2, datagrams over IPv4", binary(0x21, 0x12, v4), "192.0.2.7"),
    ("version 2, datagrams over IPv6", binary(0x21, 0x22, v6), "2001:db8::7"),
    ("version 2, datagrams of a file system", binary(0x21, 0x32, Array(repeating: 0x61, count: 216)), nil),
    ("version 2, local", binary(0x20, 0x00, []), nil), ("version 2, local with addresses", binary(0x20, 0x11, v4), nil),
    ("version 2, of no kind", binary(0x21, 0x00, [1, 2, 3]), nil),
    ("version 2, a socket in the file system", binary(0x21, 0x31, Array(repeating: 0x61, count: 216)), nil),
  ]

  @Test(
    "a header of either version has the client's address and its length, whatever follows it", .rule("gateway.17"),
    arguments: whole)
  func complete(name: String, bytes: [UInt8], client: String?) {
    #expect(bytes.count <= ProxyHeader.maximumBinary)
    for more in [[], Array("GET / HTTP/1.1\r\n\r\n".utf8), Array(repeating: 0x0D, count: 2000)] {
      guard case .complete(let found, let length) = ProxyHeader(bytes + more) else {
        Issue.record("\(ProxyHeader(bytes + more))")
        continue
      }
      #expect(found?.description == client && length == bytes.count)
    }
  }

  @Test("a header that is cut anywhere needs more bytes", .rule("gateway.17"), arguments: whole)
  func cut(name: String, bytes: [UInt8], client: String?) {
    for count in 0..<bytes.count { #expect(ProxyHeader(bytes.prefix(count)) == .incomplete, "\(count)") }
  }

  @Test(
    "a header that is too long, of an unknown kind or not one at all is malformed", .rule("gateway.17"),
    arguments: [
      ("a request", Array("GET /graphql HTTP/1.1\r\n".utf8)), ("one wrong byte", [0x51]), ("TLS", [22, 3, 1, 0, 4]),
      ("another word", Array("PROXYTCP4 1".utf8)), ("version 3", signature + [0x31, 0x11, 0, 12] + v4),
      ("version 1 in the binary form", signature + [0x11, 0x11, 0, 12] + v4),
      ("an unknown command", binary(0x22, 0x11, v4)), ("an unknown transport", binary(0x21, 0x13, v4)),
      ("an unknown family", binary(0x21, 0x41, v4)), ("an IPv4 address that is cut", binary(0x21, 0x11, Array(v4.prefix(11)))),
      ("an IPv6 address that is cut", binary(0x21, 0x21, v4)), ("datagrams whose address is cut", binary(0x21, 0x22, v4)),
      ("one byte more than the longest", binary(0x21, 0x11, v4 + Array(repeating: 0, count: 509))),
      ("the greatest length", binary(0x21, 0x11, v4, length: 65535)),
      ("a line without end", Array("PROXY TCP4 \(String(repeating: "1", count: 96))".utf8)),
      ("a line that ends too late", Array("PROXY UNKNOWN \(String(repeating: "x", count: 92))\r\n".utf8)),
      ("another family", Array("PROXY TCP4 ::1 ::1 1 2\r\n".utf8)),
      ("a mixed family", Array("PROXY TCP6 ::1 1.2.3.4 1 2\r\n".utf8)),
      ("a port too many", Array("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n".utf8)),
      ("a port too few", Array("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n".utf8)),
      ("a port above the highest", Array("PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n".utf8)),
      ("a port with a sign", Array("PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n".utf8)),
      ("two spaces", Array("PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n".utf8)),
      ("an address of words", Array("PROXY TCP4 a b 1 2\r\n".utf8)),
      ("an octal address", Array("PROXY TCP4 010.0.0.1 1.2.3.4 1 2\r\n".utf8)),
      ("an unknown word", Array("PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n".utf8)),
      ("nothing behind the word", Array("PROXY \r\n".utf8)),
    ] as [(String, [UInt8])])
  func malformed(name: String, bytes: [UInt8]) {
    #expect(ProxyHeader(bytes) == .malformed)
    #expect(ProxyHeader(bytes + Array(repeating: 0, count: 4000)) == .malformed)
  }

  @Test("random bytes and changes of headers end with one of the three answers, within the limit", .rule("gateway.17"))
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var bytes = Self.whole.randomElement(using: &generator)?.1 ?? []
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[index] = UInt8.random(in: 0...(.max), using: &generator)
      }
      if Bool.random(using: &generator) { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))) }
      if case .complete(_, let length) = ProxyHeader(bytes) { #expect(length <= min(bytes.count, ProxyHeader.maximumBinary)) }
    }
  }
}
