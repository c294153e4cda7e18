import Carabiner
import CarabinerConnect
import Foundation
import SwiftProtobuf
import TestTools
import Testing

@Suite("Errors of calls")
struct ConnectErrorTests {
  @Test("details of the type that is asked for are unpacked", .rule("connect.44"))
  func unpacking() throws {
    let text = try Google_Protobuf_StringValue("a").serializedBytes() as Data
    let error = ConnectError(
      code: .aborted, message: nil,
      details: [
        .init(type: "google.protobuf.StringValue", payload: text),
        .init(type: "type.googleapis.com/google.protobuf.StringValue", payload: text),
        .init(type: "google.protobuf.StringValue", payload: nil),
        .init(type: "google.protobuf.StringValue", payload: Data([0x0A, 9])),
        .init(type: "google.protobuf.Int32Value", payload: text), .init(type: "StringValue", payload: text),
        .init(type: "", payload: text),
      ])
    let values: [Google_Protobuf_StringValue] = error.unpackedDetails()
    #expect(values.map(\.value) == ["a", "a"])
  }

  @Test(
    "an error is made of the parts of a response",
    arguments: [
      (#"{"code":"aborted","message":"m","details":[{"type":"t","value":"AQ=="}]}"#, Code.aborted, "m", 1),
      ("{}", .notFound, nil, 0),
      ("<html>", .notFound, nil, 0), (nil, .notFound, nil, 0),
    ] as [(String?, Code, String?, Int)])
  func parts(source: String?, code: Code, message: String?, details: Int) {
    let error = ConnectError.from(
      code: .notFound, headers: ["A": ["1"], "b": ["2"]], trailers: ["B": ["3"]], source: source.map { Data($0.utf8) })
    #expect(error.code == code)
    #expect(error.message == message)
    #expect(error.details.count == details)
    #expect(error.metadata == ["a": ["1"], "b": ["3"]])
  }

  @Test("an error is decoded from the JSON of the protocol")
  func decoding() throws {
    let error = try JSONDecoder().decode(
      ConnectError.self, from: Data(#"{"code":"not_found","message":"m","details":[{"type":"t","value":"AQ","debug":{}}]}"#.utf8))
    #expect(error.code == .notFound)
    #expect(error.message == "m")
    #expect(error.details == [.init(type: "t", payload: Data([1]))])
    #expect(try JSONDecoder().decode(ConnectError.self, from: Data("{}".utf8)).code == .unknown)
  }

  @Test("the localized description is the message, or else the name of the code")
  func text() {
    #expect(ConnectError(code: .notFound, message: "m").localizedDescription == "m")
    #expect(ConnectError(code: .notFound, message: nil).localizedDescription == "not_found")
    #expect(ConnectError(code: .notFound, message: "").localizedDescription == "not_found")
    #expect("\(ConnectError(code: .notFound, message: "m"))" == "m [not_found]")
    #expect(ConnectError.Detail(type: "t", payload: nil).localizedDescription == "a detail of the type t")
  }

  @Test("an error is made without headers, trailers and body")
  func withoutParts() {
    #expect(ConnectError.from(code: .aborted, headers: nil, trailers: nil, source: nil).metadata == [:])
  }

  private struct Refused: ClientFacingError {
    var refusalStatus: Int?
    var refusalMessage: String? { nil }
    var refusalDetail: String? { nil }
    var refusalDelay: Duration? { nil }
    var isTimeout = false
  }

  @Test(
    "each failure of sending has a code", .rule("connect.31"),
    arguments: [
      (TransportError(.nameNotResolved, "", url: ""), .unavailable), (TransportError(.cannotConnect, "", url: ""), .unavailable),
      (TransportError(.connectionLost, "", url: ""), .unavailable), (TransportError(.proxyFailed, "", url: ""), .unavailable),
      (TransportError(.tls, "", url: ""), .unavailable), (TransportError(.timedOut, "", url: ""), .deadlineExceeded),
      (TransportError(.bodyTooLarge, "", url: ""), .resourceExhausted),
      (TransportError(.headTooLarge, "", url: ""), .resourceExhausted),
      (TransportError(.unsupportedURL, "", url: ""), .invalidArgument),
      (TransportError(.invalidHeader, "", url: ""), .invalidArgument),
      (TransportError(.invalidResponse, "", url: ""), .internalError), (RequestChainError(.retryLimit, ""), .resourceExhausted),
      (RequestChainError(.timedOut, ""), .deadlineExceeded), (CancellationError(), .canceled),
      (Refused(refusalStatus: 401), .unauthenticated),
      (Refused(refusalStatus: 429), .unavailable), (Refused(refusalStatus: nil), .unknown),
      (Refused(refusalStatus: 401, isTimeout: true), .deadlineExceeded), (JSONRequestFailure(), .unknown),
      (ConnectError(code: .dataLoss, message: "as it is"), .dataLoss),
    ] as [(any Error, Code)])
  func sending(error: any Error, code: Code) {
    let result = ConnectError(sending: error)
    #expect(result.code == code)
    if !(error is ConnectError), !(error is CancellationError) { #expect(result.exception != nil) }
  }

  private struct JSONRequestFailure: Error {}
}
