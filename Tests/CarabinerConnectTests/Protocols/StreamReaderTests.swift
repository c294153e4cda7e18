import CarabinerConnect
import Foundation
import TestTools
import Testing

@Suite("Responses of Connect streams")
struct StreamReaderTests {
  static let head: Headers = ["content-type": ["application/connect+json"], "connect-content-encoding": ["gzip"], "x-a": ["1"]]

  private func read(
    _ status: ResponseStatus = .http(200), _ headers: Headers = Self.head, _ body: Data = Data(), code: Code = .ok
  ) -> Reading {
    let options = ProtocolOptions(codecName: "json", maximumMessageBytes: 10_000, maximumTrailerBytes: 10_000)
    let reader = ConnectProtocol(options).reader(of: .stream)
    let reading = Reading(reader, status, headers, [body], code: code)
    for place in 0...min(body.count, 200) {
      #expect(Reading(reader, status, headers, body.cut(at: place), code: code) == reading, "cut at \(place)")
    }
    #expect(Reading(reader, status, headers, body.map { Data([$0]) }, code: code) == reading)
    #expect(reading.headers.count == 1)
    #expect(reading.codes.count == 1 && !reading.hasMore)
    #expect(reading.error?.code ?? .ok == reading.codes.first)
    return reading
  }

  @Test("messages, plain and compressed, and a compressed end", .rule("connect.50", "connect.51"))
  func success() throws {
    let pool = GzipCompressionPool()
    let end = try pool.compress(data: Data(#"{"metadata":{"X-B":["2","3"]}}"#.utf8))
    let body =
      Data.envelope(0, "{}") + Data.envelope(1, try pool.compress(data: Data("[]".utf8))) + Data.envelope(1, "")
      + Data.envelope(0, "")
      + Data.envelope(3, end)
      + Data.envelope(0, "after")
    let reading = read(.http(200), Self.head, body)
    #expect(reading.headers == [Self.head])
    #expect(reading.messages == [Data("{}".utf8), Data("[]".utf8), Data(), Data()])
    #expect(reading.codes == [.ok])
    #expect(reading.trailers == ["x-b": ["2", "3"]])
    #expect(reading.endedEarly)
  }

  @Test(
    "an error of the end has its code, or unknown", .rule("connect.51"),
    arguments: [
      ("{}", .ok), (#"{"error":null}"#, .ok), (#"{"error":{"code":"aborted","message":"m"}}"#, .aborted),
      (#"{"error":{}}"#, .unknown),
      (#"{"error":{"code":"odd"}}"#, .unknown), (#"{"error":{"code":"ok"}}"#, .unknown), (#"{"error":{"code":null}}"#, .unknown),
      ("[]", .internalError), ("null", .internalError), ("", .internalError), (#"{"error":[]}"#, .internalError),
      (#"{"metadata":{"a":"b"}}"#, .ok), (String(repeating: "[", count: 9000), .internalError),
    ] as [(String, Code)])
  func ends(text: String, code: Code) {
    let reading = read(.http(200), Self.head, Data.envelope(0, "{}") + Data.envelope(2, text))
    #expect(reading.codes == [code])
    #expect(reading.messages.count == 1)
    if code == .aborted { #expect(reading.error?.metadata == Self.head) }
  }

  @Test(
    "the head decides", .rule("connect.49"),
    arguments: [
      (200, "application/connect+proto", .internalError), (200, "application/json", .unknown), (200, "text/html", .unknown),
      (200, nil, .unknown), (404, "application/connect+json", .unimplemented), (503, "application/json", .unavailable),
      (302, nil, .unknown),
      (204, nil, .unknown),
    ] as [(Int, String?, Code)])
  func heads(status: Int, type: String?, code: Code) {
    let reading = read(.http(status), type.map { ["content-type": [$0]] } ?? [:], Data.envelope(0, "{}") + Data.envelope(2, "{}"))
    #expect(reading.codes == [code])
    #expect(reading.messages.isEmpty)
    #expect(reading.endedEarly)
  }

  @Test("an encoding that was not asked for ends the call at the head", .rule("connect.49"))
  func encoding() {
    var head = Self.head
    head["connect-content-encoding"] = ["zstd"]
    let reading = read(.http(200), head, Data.envelope(0, "{}"))
    #expect(reading.codes == [.internalError])
    #expect(reading.messages.isEmpty && reading.endedEarly)
  }

  @Test("bad envelopes end the call, and what came is delivered", .rule("connect.50"))
  func badEnvelopes() throws {
    let bomb = try GzipCompressionPool().compress(data: Data(repeating: 0, count: 10_001))
    for (bytes, code) in [
      (Data([0, 0xFF, 0xFF, 0xFF, 0xFF]), Code.resourceExhausted), (Data.envelope(0x80, "{}"), .internalError),
      (Data.envelope(0xFC, "{}"), .internalError),
      (Data.envelope(4, "{}"), .internalError), (Data.envelope(1, bomb), .resourceExhausted),
      (Data.envelope(1, "{}"), .internalError),
      (Data.envelope(3, bomb), .resourceExhausted),
    ] {
      let reading = read(.http(200), Self.head, Data.envelope(0, "{}") + bytes)
      #expect(reading.codes == [code])
      #expect(reading.messages.count == 1)
    }
    let plain = read(
      .http(200), ["content-type": ["application/connect+json"]],
      Data.envelope(1, try GzipCompressionPool().compress(data: Data([1]))))
    #expect(plain.codes == [.internalError])
  }

  @Test("a stream without its end was cut off, wherever that was", .rule("connect.53"))
  func cutOff() {
    let body = Data.envelope(0, "{}") + Data.envelope(2, "{}")
    for length in 0..<body.count {
      let reading = read(.http(200), Self.head, Data(body.prefix(length)))
      #expect(reading.codes == [.internalError], "\(length) bytes")
      #expect(reading.error?.message?.contains("cut off") == true)
      #expect(reading.messages.count == (length >= 7 ? 1 : 0))
    }
  }

  @Test("a client of HTTP without a status gives a code at the end")
  func unknownStatus() {
    let good = Data.envelope(0, "{}") + Data.envelope(2, "{}")
    #expect(read(.unknown, Self.head, good).codes == [.ok])
    #expect(read(.unknown, Self.head, Data.envelope(0, "{}"), code: .unavailable).codes == [.unavailable])
    #expect(read(.unknown, [:], Data("<html>".utf8), code: .unimplemented).codes == [.unimplemented])
    #expect(read(.unknown, [:], Data("<html>".utf8)).codes == [.unknown])
  }
}
