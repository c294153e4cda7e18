import Carabiner
import CarabinerConnect
import Foundation
import TestTools
import Testing

@Suite("Responses of unary Connect calls")
struct UnaryReaderTests {
  /// Reads a response with the status 200.
  private func read(_ headers: Headers, _ body: Data = Data(), options: ProtocolOptions = ProtocolOptions(codecName: "json"))
    -> Reading
  {
    read(.http(200), headers, body, options: options)
  }

  private func read(
    _ status: ResponseStatus, _ headers: Headers, _ body: Data = Data(),
    options: ProtocolOptions = ProtocolOptions(codecName: "json")
  ) -> Reading {
    let reader = ConnectProtocol(options).reader(of: .unary)
    let reading = Reading(reader, status, headers, [body])
    for place in 0...min(body.count, 100) {
      #expect(Reading(reader, status, headers, body.cut(at: place)) == reading, "cut at \(place)")
    }
    #expect(reading.headers.count == 1)
    #expect(reading.codes.count == 1 && !reading.hasMore)
    #expect(reading.error?.code ?? .ok == reading.codes.first)
    return reading
  }

  @Test("a response has headers, a message and trailers", .rule("connect.40", "connect.41"))
  func success() {
    let fields: HTTPHeaders = [
      "Content-Type": "application/json", "X-A": "1, 2", "x-a": "3", "Trailer-X-B": "4, 5", "trailer-x-b": "6", "Trailer-": "7",
      "Date": "Mon, 23 Nov 2026 02:00:00 GMT", "Content-Encoding": "identity",
    ]
    let reading = read(Headers(received: fields), Data("{}".utf8))
    #expect(
      reading.headers == [
        ["content-type": ["application/json"], "x-a": ["1", "2", "3"], "date": ["Mon, 23 Nov 2026 02:00:00 GMT"]]
      ])
    #expect(reading.messages == [Data("{}".utf8)])
    #expect(reading.codes == [.ok])
    #expect(reading.error == nil)
    #expect(reading.trailers == ["x-b": ["4", "5", "6"]])
  }

  @Test(
    "only 200 with our content type is a success", .rule("connect.42"),
    arguments: [
      ("application/json", .ok), ("Application/JSON; charset=utf-8", .ok), ("application/proto", .internalError),
      ("application/connect+json", .internalError), ("text/html", .unknown), (nil, .unknown), ("", .unknown), ("json", .unknown),
    ] as [(String?, Code)])
  func contentTypes(type: String?, code: Code) {
    let reading = read(type.map { ["content-type": [$0]] } ?? [:], Data("{}".utf8))
    #expect(reading.codes == [code])
    #expect(reading.messages.count == (code == .ok ? 1 : 0))
    #expect(reading.endedEarly == (code != .ok))
  }

  @Test(
    "a body of JSON replaces the code of the status, if it has a known one", .rule("connect.43"),
    arguments: [
      (404, #"{"code":"not_found","message":"no"}"#, .notFound, "no"),
      (404, #"{"code":null,"message":"no"}"#, .unimplemented, "no"),
      (404, #"{"message":"no"}"#, .unimplemented, "no"), (404, #"{"code":"ok"}"#, .unimplemented, ""),
      (503, #"{"code":"odd"}"#, .unavailable, ""),
      (418, "{}", .unknown, ""), (800, #"{"code":"aborted"}"#, .aborted, ""), (201, #"{"code":"aborted"}"#, .aborted, ""),
      (400, "[]", .internalError, nil), (400, "", .internalError, nil), (401, #"{"message":"\ud800"}"#, .unauthenticated, nil),
    ] as [(Int, String, Code, String?)])
  func errors(status: Int, body: String, code: Code, message: String?) {
    let reading = read(.http(status), ["content-type": ["application/json"], "a": ["1"]], Data(body.utf8))
    #expect(reading.codes == [code])
    if let message { #expect(reading.error?.message == message) }
    #expect(reading.error?.metadata["a"] == ["1"])
    #expect(reading.messages.isEmpty)
  }

  @Test(
    "a body of another type is not looked at", .rule("connect.43"),
    arguments: [(204, Code.unknown), (302, .unknown), (404, .unimplemented), (429, .unavailable)])
  func otherErrors(status: Int, code: Code) {
    for headers in [[:], ["content-type": ["text/html"], "content-encoding": ["zstd"]]] as [Headers] {
      let reading = read(.http(status), headers, Data(#"{"code":"aborted"}"#.utf8))
      #expect(reading.codes == [code])
      #expect(reading.endedEarly)
      #expect(reading.error?.message?.contains("\(status)") == true)
    }
  }

  @Test("a client of HTTP that gives a code instead of a status is read the same", arguments: [Code.unavailable, .unknown])
  func codes(code: Code) {
    let json: Headers = ["Content-Type": ["application/json"]]
    #expect(read(.code(code), json, Data("{}".utf8)).codes == [code])
    #expect(read(.code(code), json, Data(#"{"code":"aborted"}"#.utf8)).codes == [.aborted])
    #expect(read(.code(.ok), json, Data("{}".utf8)).messages.count == 1)
  }

  @Test("an error that the server did not send as one of the protocol says so")
  func faults() {
    let json: Headers = ["content-type": ["application/json"]]
    func fault(_ reading: Reading) -> ResponseFault? { reading.error?.exception as? ResponseFault }
    #expect(fault(read(.http(500), json, Data(#"{"code":"internal"}"#.utf8))) == nil)
    #expect(fault(read(.http(500), json, Data("no".utf8)))?.httpStatus == 500)
    #expect(fault(read(.http(500), [:]))?.httpStatus == 500)
    let malformed = fault(read(["content-type": ["application/json"], "content-encoding": ["gzip"]], Data("no".utf8)))
    #expect(malformed != nil && malformed?.httpStatus == nil && malformed?.cause != nil)
    #expect(fault(read(.http(200), [:])) != nil)
  }

  @Test("details keep their order, with and without payload", .rule("connect.44"))
  func details() {
    let body = #"{"details":[{"type":"a.B","value":"AQ","debug":[]},{"type":"x/c.D","value":"?"}]}"#
    let reading = read(.http(500), ["content-type": ["application/json"]], Data(body.utf8))
    #expect(reading.error?.details == [.init(type: "a.B", payload: Data([1])), .init(type: "x/c.D", payload: nil)])
  }

  @Test("metadata are headers and trailers; a trailer replaces the header of its name", .rule("connect.45"))
  func metadata() {
    let reading = read(
      .http(500), ["content-type": ["application/json"], "X-A": ["1"], "Trailer-x-a": ["2"], "trailer-b": ["3"]], Data("{}".utf8))
    #expect(reading.error?.metadata == ["content-type": ["application/json"], "x-a": ["2"], "b": ["3"]])
    #expect(reading.trailers == ["x-a": ["2"], "b": ["3"]])
  }

  @Test("an encoding is none, that of a pool, or an error", .rule("connect.46"))
  func encodings() throws {
    let message = Data(#"{"a":1}"#.utf8)
    let compressed = try GzipCompressionPool().compress(data: message)
    for (encoding, body, code) in [
      ("", message, Code.ok), ("identity", message, .ok), ("Identity", message, .ok), ("gzip", compressed, .ok),
      ("GZIP", compressed, .ok),
      ("zstd", message, .internalError), ("gzip", message, .internalError), ("gzip", compressed.dropLast(1), .internalError),
    ] as [(String, Data, Code)] {
      for status in [200, 500] {
        let reading = read(.http(status), ["content-type": ["application/json"], "content-encoding": [encoding]], Data(body))
        let expected = status == 500 && code == .ok ? Code.unknown : code
        #expect(reading.codes == [expected], "\(encoding) with \(status)")
        if status == 200, code == .ok { #expect(reading.messages == [message]) }
      }
    }
    let empty = read(["content-type": ["application/json"], "content-encoding": ["gzip"]])
    #expect(empty.messages == [Data()])
  }

  @Test("a message or an error that grows beyond the limit is too large", .rule("connect.46"))
  func bomb() throws {
    let options = ProtocolOptions(codecName: "json", maximumMessageBytes: 10_000, maximumTrailerBytes: 10_000)
    let headers: Headers = ["content-type": ["application/json"], "content-encoding": ["gzip"]]
    for (size, code) in [(10_000, Code.ok), (10_001, .resourceExhausted)] {
      let body = try GzipCompressionPool().compress(data: Data(repeating: 0x20, count: size))
      #expect(read(headers, body, options: options).codes == [code])
      #expect(read(.http(500), headers, body, options: options).codes == [code == .ok ? .unknown : code])
    }
    let plain = read(["content-type": ["application/json"]], Data(repeating: 0x20, count: 10_001), options: options)
    #expect(plain.codes == [.resourceExhausted])
    #expect(plain.endedEarly)
  }
}
