import CarabinerConnect
import Foundation
import TestTools
import Testing

@Suite("Responses of gRPC-Web calls")
struct GRPCWebReaderTests {
  static let head: Headers = ["content-type": ["application/grpc-web+proto"], "grpc-encoding": ["gzip"]]

  private func read(
    _ kind: CallKind = .unary, _ status: ResponseStatus = .http(200), _ headers: Headers = Self.head, _ body: Data = Data()
  ) -> Reading {
    let reader = GRPCWebProtocol(ProtocolOptions(codecName: "proto", maximumMessageBytes: 10_000)).reader(of: kind)
    let reading = Reading(reader, status, headers, [body])
    for place in 0...body.count { #expect(Reading(reader, status, headers, body.cut(at: place)) == reading, "cut at \(place)") }
    #expect(reading.headers.count == 1)
    #expect(reading.codes.count == 1 && !reading.hasMore)
    #expect(reading.error?.code ?? .ok == reading.codes.first)
    return reading
  }

  @Test("a message and trailers, plain and compressed", .rule("connect.56"), arguments: CallKind.allCases)
  func success(kind: CallKind) throws {
    let pool = GzipCompressionPool()
    for body in [
      Data.envelope(0, "m") + Data.envelope(0x80, "grpc-status: 0\r\nX-A: 1\r\nx-a: 2\r\n"),
      Data.envelope(1, try pool.compress(data: Data("m".utf8)))
        + Data.envelope(0x81, try pool.compress(data: Data("grpc-status:0\r\nX-A: 1\r\nx-a: 2\r\n".utf8))),
    ] {
      let reading = read(kind, .http(200), Self.head, body)
      #expect(reading.codes == [.ok])
      #expect(reading.messages == [Data("m".utf8)])
      #expect(reading.trailers == ["grpc-status": ["0"], "x-a": ["1", "2"]])
    }
  }

  @Test(
    "the trailers decide", .rule("connect.56"),
    arguments: [
      ("grpc-status: 5\r\ngrpc-message: a%20b\r\n", .notFound, "a b"), ("grpc-status: 99\r\n", .unknown, nil),
      ("x: 1\r\n", .unknown, nil),
      ("grpc-status: x\r\n", .unknown, nil), ("", .unknown, nil),
    ] as [(String, Code, String?)])
  func errors(trailers: String, code: Code, message: String?) {
    for kind in CallKind.allCases {
      let reading = read(kind, .http(200), Self.head, Data.envelope(0, "m") + Data.envelope(0x80, trailers))
      #expect(reading.codes == [code])
      #expect(reading.messages.count == (kind == .unary ? 0 : 1))
      if let message { #expect(reading.error?.message == message) }
    }
  }

  @Test("a status has details", .rule("connect.56"))
  func details() {
    let status = Data([0x1A, 8, 0x0A, 3, 0x61, 0x2E, 0x42, 0x12, 1, 9]).base64EncodedString()
    let reading = read(
      .unary, .http(200), Self.head, Data.envelope(0x80, "grpc-status: 3\r\ngrpc-status-details-bin: \(status)\r\n"))
    #expect(reading.error?.details == [.init(type: "a.B", payload: Data([9]))])
  }

  @Test("a status in the head counts if there is no body", .rule("connect.57"))
  func head() {
    var head = Self.head
    head["grpc-status"] = ["7"]
    head["grpc-message"] = ["no"]
    for kind in CallKind.allCases {
      let reading = read(kind, .http(200), head)
      #expect(reading.codes == [.permissionDenied])
      #expect(reading.error?.message == "no")
      #expect(reading.trailers["grpc-status"] == ["7"])
      #expect(read(kind, .http(200), head, Data.envelope(0, "m") + Data.envelope(0x80, "grpc-status: 0\r\n")).codes == [.ok])
      #expect(read(kind, .http(200), head, Data.envelope(0, "m")).codes == [.internalError])
    }
  }

  @Test("a unary call without a message, or with several, is unimplemented", .rule("connect.57"))
  func messages() {
    let ok = Data.envelope(0x80, "grpc-status: 0\r\n")
    #expect(read(.unary, .http(200), Self.head, ok).codes == [.unimplemented])
    #expect(read(.unary, .http(200), Self.head, Data.envelope(0, "m") + Data.envelope(0, "m") + ok).codes == [.unimplemented])
    #expect(read(.stream, .http(200), Self.head, ok).codes == [.ok])
  }

  @Test(
    "the head decides", .rule("connect.57"),
    arguments: [
      (200, "application/grpc-web", .ok), (200, "application/grpc-web+proto; v=1", .ok),
      (200, "application/grpc-web+json", .internalError),
      (200, "application/grpc-web-text", .internalError), (200, "application/proto", .unknown), (200, "text/html", .unknown),
      (200, nil, .unknown),
      (503, "application/grpc-web+proto", .unavailable), (404, nil, .unimplemented),
    ] as [(Int, String?, Code)])
  func heads(status: Int, type: String?, code: Code) {
    let headers = type.map { ["content-type": [$0]] } ?? [:]
    let reading = read(.unary, .http(status), headers, Data.envelope(0, "m") + Data.envelope(0x80, "grpc-status: 0\r\n"))
    #expect(reading.codes == [code])
  }

  @Test("a body that ends early was cut off", .rule("connect.53"))
  func cutOff() {
    let body = Data.envelope(0, "m") + Data.envelope(0x80, "grpc-status: 0\r\n")
    for length in 0..<body.count {
      #expect(read(.unary, .http(200), Self.head, Data(body.prefix(length))).codes == [.internalError])
    }
  }

  @Test("bad envelopes end the call", .rule("connect.50"))
  func badEnvelopes() {
    #expect(read(.unary, .http(200), Self.head, Data.envelope(2, "{}")).codes == [.internalError])
    #expect(read(.unary, .http(200), Self.head, Data([0, 0xFF, 0xFF, 0xFF, 0xFF])).codes == [.resourceExhausted])
    #expect(read(.unary, .http(200), ["content-type": ["application/grpc-web"]], Data.envelope(1, "m")).codes == [.internalError])
  }
}
