import Carabiner
import CarabinerWire
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("HTTP/2: header values that are not UTF-8")
struct FieldBytesTests {
  private typealias Kind = HTTP2Client.Kind

  private static let value = Array("caf".utf8) + [0xE9]
  private static let coded: [UInt8] = [0x20, 0xE5, 0xFF, 0xFF, 0xAF]

  private static func text(_ bytes: [UInt8], isCoded: Bool = false) -> [UInt8] {
    [UInt8(bytes.count) | (isCoded ? 0x80 : 0)] + bytes
  }

  /// A field that is written out, without a place in the table.
  private static func literal(_ name: String, _ value: [UInt8]) -> [UInt8] { [0] + text(Array(name.utf8)) + text(value) }

  private static let head =
    literal(":method", Array("GET".utf8)) + literal(":scheme", Array("http".utf8)) + literal(":path", Array("/".utf8))
    + literal(":authority", Array("gateway".utf8))

  /// A gateway that returns the values of `x-name` as `x-echo`.
  private func gateway() async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    limits.takesHTTP2 = true
    let handler = RecordingHandler { request, reply in
      var fields: ReplyFields = [:]
      let headers = request.head.headers
      for index in headers.indices where headers[index].name == "x-name" {
        fields.add("x-echo".utf8Span.span, headers.bytes.span.extracting(headers.valueRange(at: index)))
      }
      reply.answer(.ok, fields, ByteBuffer())
    }
    return try await LocalGateway(handler, limits: limits)
  }

  /// The head of the response to a request with further fields.
  private func response(_ client: HTTP2Client, _ stream: UInt32, _ fields: [UInt8], flags: UInt8 = 0x5) -> [UInt8] {
    client.send(Kind.headers, flags, stream, Self.head + fields)
    while let frame = client.next() {
      if frame.stream == stream, frame.kind == Kind.headers { return frame.payload }
    }
    return []
  }

  @Test("values pass with their bytes, written plainly or by the Huffman code, also from the table")
  func passed() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let echoed = Self.text(Self.value)
    let plain = response(client, 1, Self.literal("x-name", Self.value))
    #expect(plain.firstRange(of: echoed) != nil, "\(plain)")
    // With a place in the table, to which the next request refers.
    let coded = response(client, 3, [0x40] + Self.text(Array("x-name".utf8)) + Self.text(Self.coded, isCoded: true))
    #expect(coded.firstRange(of: echoed) != nil, "\(coded)")
    let indexed = response(client, 5, [0x80 | 62])
    #expect(indexed.firstRange(of: echoed) != nil, "\(indexed)")
    // UTF-8, and the bytes that mark other values.
    let values: [[UInt8]] = [Array("ü".utf8), [0xF4, 0x8F, 0xBF, 0xBF, 0xC3, 0xA9], [0xF4, 0x8F, 0xBF, 0xBF]]
    for (index, value) in values.enumerated() {
      let answer = response(client, UInt32(7 + 2 * index), Self.literal("x-name", value))
      let isPlain = answer.firstRange(of: Self.text(value)) != nil
      #expect(isPlain || FieldCodeTests.texts(in: answer).contains(value), "\(answer)")
    }
  }

  @Test(
    "a malformed value resets its stream as it does in UTF-8",
    arguments: [[0x20, 0xE9], [0xE9, 0x09], [0xE9, 0x0D, 0x0A, 0x61]])
  func malformed(value: [UInt8]) async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    client.send(Kind.headers, 0x5, 1, Self.head + Self.literal("x-name", value))
    let frame = client.next()
    #expect(frame?.kind == Kind.reset && frame?.stream == 1 && frame?.errorCode == 1, "\(String(describing: frame))")
  }

  /// The bytes that a handler passes on, if it gets bytes in pieces of `size`.
  private func passed(_ bytes: [UInt8], size: Int) throws -> [UInt8] {
    let channel = EmbeddedChannel(handler: FieldBytes())
    var passed: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
      while let piece = try channel.readInbound(as: ByteBuffer.self) { passed += Array(buffer: piece) }
    }
    _ = try channel.finish(acceptAlreadyClosed: true)
    return passed
  }

  private static func frame(_ kind: UInt8, _ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), kind, flags, 0, 0, 0, 1] + payload
  }

  @Test(
    "frames are found however the bytes are cut, and only values that are not UTF-8 change",
    arguments: [1, 2, 8, 9, 10, 31, 100_000])
  func cut(size: Int) throws {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    let before =
      preface + Self.frame(Kind.settings, 0, []) + Self.frame(Kind.headers, 0x4, Self.head + Self.literal("x", Array("ü".utf8)))
    // A body that looks like a head.
    let body = Self.frame(
      Kind.data, 0, Self.frame(Kind.headers, 0x4, Self.literal("x", [0xFF])) + [UInt8](repeating: 7, count: 300))
    let opaque = [0xF4, 0x8F, 0xBF, 0xBF] + Array("café".utf8)
    // Padding and priority stay.
    func padded(_ value: [UInt8]) -> [UInt8] {
      var payload: [UInt8] = [2, 0, 0, 0, 0, 9]
      payload += Self.literal("x-name", value)
      payload += [0x82, 0, 0]
      return Self.frame(Kind.headers, 0x2C, payload)
    }
    let after =
      Self.frame(Kind.headers, 0, Self.literal("x", [0xFF])) + Self.frame(Kind.continuation, 0x4, Self.literal("x", [0xFF]))
    let sent: [UInt8] = before + body + padded(Self.value) + after
    let expected: [UInt8] = before + body + padded(opaque) + after
    #expect(try passed(sent, size: size) == expected)
  }
}

@Suite("HTTP/2: the code of header fields (RFC 7541)")
struct FieldCodeTests {
  /// The literal texts of a block without a place in the table, as far as it has only such.
  static func texts(in block: [UInt8]) -> [[UInt8]] {
    var texts: [[UInt8]] = []
    for start in block.indices where block[start] & 0x80 != 0 {
      let end = start + 1 + Int(block[start] & 0x7F)
      if end <= block.count, let text = FieldCode.decoded(block[(start + 1)..<end].span) { texts.append(text) }
    }
    return texts
  }

  @Test(
    "the examples of the standard are decoded",
    arguments: [
      ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"), ("a8eb10649cbf", "no-cache"), ("25a849e95bb8e8b4bf", "custom-value"),
      ("d07abe941054d444a8200595040b8166e082a62d1bff", "Mon, 21 Oct 2013 20:13:21 GMT"), ("", ""),
    ])
  func examples(digits: String, text: String) throws {
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    #expect(FieldCode.decoded(bytes.span) == Array(text.utf8))
  }

  @Test(
    "the end, a long padding and a padding of other bits are refused",
    arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0x1F, 0xFF, 0xFF], [0x18]])
  func malformed(bytes: [UInt8]) { #expect(FieldCode.decoded(bytes.span) == nil) }

  @Test("random blocks are changed or left alone, and never read behind their end", arguments: 0..<10)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let block = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      let changed = FieldBlock.replacingValues(in: block.span) { OpaqueText.utf8(of: $0) }
      guard let changed else { continue }
      // Changed once, there is nothing more to change.
      #expect(FieldBlock.replacingValues(in: changed.span) { $0.isUTF8 ? nil : [] } == nil)
      #expect(FieldBlock.replacingValues(in: changed.span) { OpaqueText.bytes(of: Array($0)) } != nil)
    }
  }
}
