import Carabiner
import CarabinerConnect
import Foundation
import TestTools
import Testing

@Suite("Requests of Connect and gRPC-Web")
struct RequestTests {
  private static func url() throws -> Foundation.URL { try #require(URL(string: "http://localhost:1/a.B/C")) }

  private static let message = Data(#"{"a":1}"#.utf8)

  private func unary(
    _ options: ProtocolOptions, headers: Headers = [:], message: Data = Self.message, timeout: TimeInterval? = nil,
    getLimit: Int? = nil
  ) throws -> Carabiner.URLRequest {
    try ConnectProtocol(options).unaryRequest(
      to: try Self.url(), headers: headers, message: message, timeout: timeout, getLimit: getLimit)
  }

  @Test("a unary request is the bare message with the fields of the protocol", .rule("connect.32"))
  func post() throws {
    let request = try unary(ProtocolOptions(codecName: "json"), headers: ["X-A": ["1"]], timeout: 1.5)
    #expect(request.httpMethod == "POST")
    #expect(request.url.absoluteString == "http://localhost:1/a.B/C")
    #expect(request.httpBody == Self.message)
    #expect(!request.decodesContent)
    #expect(
      request.headers.dictionary == [
        "accept-encoding": "gzip", "connect-protocol-version": "1", "connect-timeout-ms": "1500",
        "content-type": "application/json", "x-a": "1",
      ])
  }

  @Test("without pools, no compression is accepted", .rule("connect.32"))
  func noPools() throws {
    let request = try unary(ProtocolOptions(codecName: "proto", responsePools: []), headers: ["Accept-Encoding": ["br"]])
    #expect(request.headers["accept-encoding"] == nil)
    #expect(request.headers["content-type"] == "application/proto")
  }

  @Test(
    "a timeout is whole milliseconds, rounded up, in the digits of the protocol", .rule("connect.33"),
    arguments: [
      (0.0005, "1", "1m"), (0, "1", "1m"), (-1, "1", "1m"), (0.07, "70", "70m"), (0.0701, "71", "71m"), (1.1, "1100", "1100m"),
      (40_000_000_000, "9999999999", "99999999m"), (1e300, "9999999999", "99999999m"),
      (.greatestFiniteMagnitude, "9999999999", "99999999m"),
      (.nan, nil, nil), (.infinity, nil, nil), (nil, nil, nil),
    ] as [(TimeInterval?, String?, String?)])
  func timeouts(timeout: TimeInterval?, connect: String?, grpc: String?) throws {
    let options = ProtocolOptions(codecName: "json")
    #expect(try unary(options, timeout: timeout).headers["connect-timeout-ms"] == connect)
    let url = try Self.url()
    #expect(
      try ConnectProtocol(options).streamRequest(to: url, headers: [:], timeout: timeout).headers["connect-timeout-ms"] == connect
    )
    #expect(try GRPCWebProtocol(options).streamRequest(to: url, headers: [:], timeout: timeout).headers["grpc-timeout"] == grpc)
  }

  /// A pool that fails, or returns nothing.
  private struct BrokenPool: CompressionPool {
    let throwing: Bool

    func name() -> String { "broken" }
    func compress(data: Data) throws -> Data {
      if throwing { throw CancellationError() }
      return Data()
    }
    func decompress(data: Data) throws -> Data { data }
  }

  @Test("a message is compressed from the limit on, and never if it is empty", .rule("connect.34"))
  func compression() throws {
    let count = Self.message.count
    for (limit, isCompressed) in [(0, true), (count, true), (count + 1, false)] {
      let request = try unary(ProtocolOptions(codecName: "json", requestPool: GzipCompressionPool(), compressFrom: limit))
      #expect(request.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
      let body = try #require(request.httpBody)
      #expect((body == Self.message) == !isCompressed)
      if isCompressed { #expect(try GzipCompressionPool().decompress(data: body) == Self.message) }
    }
    let empty = try unary(
      ProtocolOptions(codecName: "proto", requestPool: GzipCompressionPool()), headers: ["Content-Encoding": ["gzip"]],
      message: Data())
    #expect(empty.headers["content-encoding"] == nil)
    #expect(empty.httpBody == Data())
  }

  @Test("a message whose compression fails is sent as it is", .rule("connect.34"), arguments: [false, true])
  func brokenPool(throwing: Bool) throws {
    let options = ProtocolOptions(codecName: "json", requestPool: BrokenPool(throwing: throwing))
    let request = try unary(options)
    #expect(request.httpBody == Self.message)
    #expect(request.headers["content-encoding"] == nil)
    #expect(try ConnectProtocol(options).frame(Self.message) == Data([0, 0, 0, 0, 7]) + Self.message)
  }

  @Test("a GET has its message in the URL and no fields of a body", .rule("connect.35"))
  func get() throws {
    let request = try unary(
      ProtocolOptions(codecName: "json"), headers: ["Content-Type": ["application/json"], "x-a": ["1"]], timeout: 1, getLimit: 7)
    #expect(request.httpMethod == "GET")
    #expect(request.isIdempotent)
    #expect(request.body == nil)
    #expect(
      request.url.absoluteString == "http://localhost:1/a.B/C?connect=v1&base64=1&encoding=json&message=eyJhIjoxfQ")
    #expect(request.headers.dictionary == ["accept-encoding": "gzip", "connect-timeout-ms": "1000", "x-a": "1"])
  }

  @Test(
    "the limit of a GET is that of the message as it is sent", .rule("connect.35"),
    arguments: [(6, "POST"), (7, "GET"), (Int.max, "GET")])
  func getLimit(limit: Int, method: String) throws {
    #expect(try unary(ProtocolOptions(codecName: "json"), getLimit: limit).httpMethod == method)
    let long = Data(repeating: 0x61, count: 10_000)
    let options = ProtocolOptions(codecName: "json", requestPool: GzipCompressionPool())
    let request = try unary(options, message: long, getLimit: 200)
    #expect(request.httpMethod == "GET")
    #expect(request.headers["content-encoding"] == nil)
    #expect(request.url.query?.hasPrefix("connect=v1&base64=1&compression=gzip&encoding=json&message=H4sI") == true)
  }

  @Test("a message of 1 MiB is sent by GET if that is allowed", .rule("connect.35"))
  func longGet() throws {
    let request = try unary(ProtocolOptions(codecName: "proto"), message: Data(repeating: 1, count: 1 << 20), getLimit: .max)
    #expect(request.url.absoluteString.utf8.count > 1_398_000)
  }

  @Test("a stream has the fields of the protocol", .rule("connect.36"))
  func stream() throws {
    let options = ProtocolOptions(codecName: "proto", requestPool: GzipCompressionPool(), compressFrom: 8)
    let request = try ConnectProtocol(options).streamRequest(to: try Self.url(), headers: ["Content-Type": ["x"]], timeout: 2)
    #expect(request.httpMethod == "POST")
    #expect(!request.decodesContent)
    #expect(
      request.headers.dictionary == [
        "connect-accept-encoding": "gzip", "connect-content-encoding": "gzip", "connect-protocol-version": "1",
        "connect-timeout-ms": "2000", "content-type": "application/connect+proto",
      ])
    #expect(try ConnectProtocol(options).frame(Self.message) == Data([0, 0, 0, 0, 7]) + Self.message)
    let long = try ConnectProtocol(options).frame(Self.message + Self.message)
    #expect(long.first == 1)
    #expect(try GzipCompressionPool().decompress(data: long.dropFirst(5)) == Self.message + Self.message)
  }

  @Test("a call of gRPC-Web is an envelope with the fields of its protocol", .rule("connect.55"))
  func grpcWeb() throws {
    let options = ProtocolOptions(codecName: "json", requestPool: GzipCompressionPool(), compressFrom: 1000)
    let request = try GRPCWebProtocol(options).unaryRequest(
      to: try Self.url(), headers: [:], message: Self.message, timeout: 3, getLimit: .max)
    #expect(request.httpMethod == "POST")
    #expect(request.httpBody == Data([0, 0, 0, 0, 7]) + Self.message)
    #expect(
      request.headers.dictionary == [
        "content-type": "application/grpc-web+json", "grpc-accept-encoding": "gzip", "grpc-encoding": "gzip",
        "grpc-timeout": "3000m", "x-user-agent": "carabiner-grpc-web",
      ])
  }

  @Test("names in two spellings are one field, and values are joined", .rule("connect.38"))
  func spellings() throws {
    let request = try unary(ProtocolOptions(codecName: "json"), headers: ["X-A": ["1", "2"], "x-a": ["3"], "x-b": []])
    #expect(request.headers.values(for: "x-a") == ["1,2,3"])
    #expect(request.headers["x-b"] == nil)
    #expect(request.headers.fields.map(\.name) == request.headers.fields.map { $0.name.lowercased() })
  }

  @Test(
    "a name or value that cannot be in a head is refused", .rule("connect.38"),
    arguments: [["x-a": ["1\r\ny: 2"]], ["x-a": ["\n"]], ["x a": ["1"]], ["": ["1"]], ["x-a": ["\u{0}"]], ["é": ["1"]]]
      as [Headers])
  func malformed(headers: Headers) throws {
    for getLimit in [nil, Int.max] {
      let error = try #require(throws: ConnectError.self) {
        try unary(ProtocolOptions(codecName: "json"), headers: headers, getLimit: getLimit)
      }
      #expect(error.code == .invalidArgument)
    }
  }
}
