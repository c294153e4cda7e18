import CNghttp2
import Carabiner
import NIOCore
import NIOHTTP1
import ScriptedServer
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

  /// The values of `x-echo` in the response to a request with further fields.
  private func response(_ client: HTTP2Client, _ fields: HeadReader, _ stream: UInt32, _ block: [UInt8]) -> [[UInt8]] {
    client.send(Kind.headers, 0x5, stream, Self.head + block)
    while let frame = client.next() {
      if frame.stream == stream, frame.kind == Kind.headers {
        return fields.read(frame.payload).filter { $0.name == Array("x-echo".utf8) }.map(\.value)
      }
    }
    return []
  }

  @Test("values pass with their bytes, written plainly or by the Huffman code, also from the table")
  func passed() async throws {
    let gateway = try await gateway()
    let client = try HTTP2Client(port: gateway.port, of: gateway)
    let fields = HeadReader()
    #expect(response(client, fields, 1, Self.literal("x-name", Self.value)) == [Self.value])
    // With a place in the table, to which the next request refers.
    let coded = [0x40] + Self.text(Array("x-name".utf8)) + Self.text(Self.coded, isCoded: true)
    #expect(response(client, fields, 3, coded) == [Self.value])
    #expect(response(client, fields, 5, [0x80 | 62]) == [Self.value])
    let values: [[UInt8]] = [Array("ü".utf8), [0xFF, 0x80], [0xF4, 0x8F, 0xBF, 0xBF]]
    for (index, value) in values.enumerated() {
      #expect(response(client, fields, UInt32(7 + 2 * index), Self.literal("x-name", value)) == [value])
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
}

/// Reads the heads of responses, as the decoder of nghttp2 does.
@safe private final class HeadReader {
  private var decoder: OpaquePointer?

  init() { unsafe nghttp2_hd_inflate_new(&decoder) }

  deinit { unsafe nghttp2_hd_inflate_del(decoder) }

  func read(_ block: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
    var (fields, position): ([(name: [UInt8], value: [UInt8])], Int) = ([], 0)
    while true {
      var field = unsafe nghttp2_nv()
      var flags: Int32 = 0
      let count = unsafe block.withUnsafeBufferPointer { bytes in
        unsafe nghttp2_hd_inflate_hd2(
          decoder, &field, &flags, bytes.baseAddress.map { unsafe $0 + position }, bytes.count - position, 1)
      }
      guard count >= 0 else { return [] }
      position += count
      if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        unsafe fields.append(
          (
            Array(UnsafeBufferPointer(start: field.name, count: field.namelen)),
            Array(UnsafeBufferPointer(start: field.value, count: field.valuelen))
          ))
      }
      if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        unsafe nghttp2_hd_inflate_end_headers(decoder)
        return fields
      }
    }
  }
}
