import CZlib
import CZstd
import Carabiner
import CarabinerWire
import Logging
import NIOCore
import NIOHTTP1
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("Compressed responses")
struct CompressionTests {
  /// A result whose JSON has this many bytes.
  private static func result(_ bytes: Int) -> String {
    let frame = #"{"data":{"a":""}}"#
    let words = "the quick brown fox jumps over the lazy dog and "
    let text = String(String(repeating: words, count: bytes / words.utf8.count + 1).prefix(bytes - frame.utf8.count))
    return #"{"data":{"a":"\#(text)"}}"#
  }

  private func channel(
    _ texts: String..., minimum: Int = 1 << 10, codings: [ContentCoding] = [.zstd, .gzip],
    limits: GatewayLimits = GatewayLimits(),
    metrics: GatewayMetrics = GatewayMetrics()
  ) async throws -> OperationChannel {
    let policies = CurrentPolicy()
    policies.set(ClientPolicy(compression: CompressionRule(codings: codings, minimum: minimum, level: 1)))
    let runner = ScriptedRunner { _ in
      PullStream(elements: try texts.map { try GraphQLResponse(json: JSONValue(parsing: Array($0.utf8))) })
    }
    return try await OperationChannel(runner, limits: limits, policies: policies, metrics: metrics)
  }

  private func value(_ name: String, _ head: ReplyHead) -> String? { head.fields.list[name] }

  private func vary(_ head: ReplyHead) -> [String] { head.fields.list.values(for: "vary") }

  // The sizes are below and above the one up to which a response is compressed by the thread that made it.
  @Test("each encoding round-trips", .rule("gateway.20"), arguments: ContentCoding.allCases, [1024, 20_000, 65_536, 300_000])
  func roundTrip(_ coding: ContentCoding, bytes: Int) async throws {
    let metrics = GatewayMetrics()
    // The state of the encoder is used again for each.
    for _ in 0..<3 {
      let (head, body) = try await channel(Self.result(bytes), metrics: metrics).bytes(
        "{ a }", fields: ["Accept-Encoding": coding.rawValue])
      #expect(value("content-encoding", head) == coding.rawValue)
      #expect(vary(head) == ["Accept-Encoding", "Accept"] && body.count < bytes)
      #expect(String(decoding: Decoded.bytes(body, coding, maximum: bytes), as: UTF8.self) == Self.result(bytes))
    }
    var text = PrometheusText()
    metrics.write(to: &text)
    #expect(text.text.contains(#"carabiner_compression_bytes_total{encoding="\#(coding.rawValue)",side="in"} \#(3 * bytes)"#))
  }

  @Test("a response below the minimum is not compressed, and one of the minimum is", .rule("gateway.20"))
  func minimum() async throws {
    let small = try await channel(Self.result(999)).bytes("{ a }", fields: ["Accept-Encoding": "gzip"])
    #expect(value("content-encoding", small.head) == nil && small.body == Array(Self.result(999).utf8))
    #expect(vary(small.head) == ["Accept-Encoding", "Accept"])
    let large = try await channel(Self.result(1024)).bytes("{ a }", fields: ["Accept-Encoding": "gzip"])
    #expect(value("content-encoding", large.head) == "gzip")
  }

  @Test(
    "Accept-Encoding with quality values decides", .rule("gateway.20"),
    arguments: [
      (nil, nil), ("gzip;q=0", nil), ("identity", nil), ("br", nil), ("gzip, zstd", "zstd"), ("gzip;q=1, zstd;q=0.5", "gzip"),
    ] as [(String?, String?)])
  func negotiation(_ accepted: String?, _ expected: String?) async throws {
    let fields = accepted.map { ["Accept-Encoding": $0] } ?? [:]
    let (head, _) = try await channel(Self.result(4096)).bytes("{ a }", fields: fields)
    #expect(value("content-encoding", head) == expected)
  }

  @Test("parts and events are never compressed", .rule("gateway.20"))
  func pieces() async throws {
    let events = try await channel(Self.result(4096)).bytes(
      "{ a }", fields: ["Accept-Encoding": "gzip", "Accept": "text/event-stream"])
    #expect(value("content-encoding", events.head) == nil && events.body.starts(with: Array("event: next".utf8)))
    let parts = try await channel(Self.result(4096)).bytes(
      "subscription { a }", fields: ["Accept-Encoding": "gzip", "Accept": "multipart/mixed;subscriptionSpec=1.0"])
    #expect(value("content-encoding", parts.head) == nil)
  }

  @Test("without serve.compression nothing is compressed and responses do not vary with Accept-Encoding", .rule("gateway.20"))
  func unconfigured() async throws {
    let channel = try await OperationChannel(ScriptedRunner(Self.result(4096)))
    let (head, _) = try await channel.bytes("{ a }", fields: ["Accept-Encoding": "gzip"])
    #expect(value("content-encoding", head) == nil && vary(head) == ["Accept"])
  }

  @Test("the encoders of a thread are kept, and made again for another level", .rule("gateway.20"))
  func kept() throws {
    let encoders = ThreadEncoders()
    let (gzip, zstd) = (try #require(encoders.gzip(1)), try #require(encoders.zstd(1)))
    #expect(encoders.gzip(1) === gzip && encoders.zstd(1) === zstd)
    #expect(encoders.gzip(9) !== gzip && encoders.zstd(9) !== zstd)
  }
}

/// Decompresses with the libraries themselves.
private enum Decoded {
  static func bytes(_ body: [UInt8], _ coding: ContentCoding, maximum: Int) -> [UInt8] {
    var input = body
    return unsafe [UInt8](unsafeUninitializedCapacity: maximum) { output, count in
      switch coding {
      case .zstd: count = unsafe ZSTD_decompress(output.baseAddress, output.count, input, input.count)
      case .gzip:
        var stream = unsafe z_stream()
        guard unsafe CZlib_inflateInit(&stream, 15 + 16) == Z_OK else { return }
        defer { unsafe _ = inflateEnd(&stream) }
        unsafe input.withUnsafeMutableBufferPointer { input in
          unsafe stream.next_in = input.baseAddress
          unsafe stream.avail_in = UInt32(input.count)
          unsafe stream.next_out = output.baseAddress
          unsafe stream.avail_out = UInt32(output.count)
          if unsafe inflate(&stream, Z_FINISH) == Z_STREAM_END { count = unsafe output.count - Int(stream.avail_out) }
        }
      }
    }
  }
}
