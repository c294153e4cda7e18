import Carabiner
import CarabinerWire
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("Responses of clients to refusals")
struct FailureAnswerTests {
  private struct Refused: ClientFacingError {
    var refusalStatus: Int? = 403
    var refusalMessage: String?
    var refusalDetail: String?
    var refusalDelay: Duration?
  }

  private func error(_ refusal: Refused) throws -> JSONValue? {
    let answer = FailureAnswer(refusal) { $0.replacing("token", with: "${env:TOKEN}") }
    return try JSONValue(parsing: answer.json)["errors"]?[0]
  }

  @Test("without a message for clients, the gateway's own message is sent", .rule("gateway.21"))
  func none() throws {
    #expect(
      try error(Refused()) == ["message": "the gateway refuses this", "extensions": ["code": "FORBIDDEN"]])
  }

  @Test("message and detail have neither secrets nor control characters, and the code stays", .rule("gateway.21"))
  func cleaned() throws {
    let refused = Refused(
      refusalMessage: "no\u{0}\n\u{85} to\u{7}ken for you", refusalDetail: #"{"token":["a token","\u0000b",1,null]}"#)
    #expect(
      try error(refused) == [
        "message": "no ${env:TOKEN} for you",
        "extensions": ["code": "FORBIDDEN", "detail": ["${env:TOKEN}": ["a ${env:TOKEN}", "b", 1, .null]]],
      ])
  }

  @Test("an upstream that cannot take a request: 503 with its code, and Retry-After: 1", .rule("gateway.8", "gateway.11"))
  func upstream() throws {
    for code in UpstreamRefusal.Code.allCases {
      let answer = FailureAnswer(UpstreamRefusal(code, upstream: "main")) { $0 }
      #expect(answer.status == 503)
      #expect(answer.retryAfter == "1")
      #expect(try JSONValue(parsing: answer.json)["errors"]?[0]?["extensions"]?["code"] == .string(code.rawValue))
      #expect(!answer.message.contains("main"))
    }
    #expect(UpstreamRefusal.Code.allCases.map(\.rawValue) == ["NO_UPSTREAM", "UPSTREAM_OPEN", "UPSTREAM_OVERLOADED"])
  }

  @Test("a failure of a WebSocket upstream has a code of the upstream", arguments: WebSocketError.Code.allCases)
  func webSocket(_ code: WebSocketError.Code) {
    let answer = FailureAnswer(WebSocketError(code, "secret", url: "ws://inside", statusCode: 404)) { $0 }
    let expected =
      switch code {
      case .connectTimeout, .acknowledgementTimeout, .keepAliveTimeout: (504, "UPSTREAM_TIMEOUT")
      case .cannotConnect, .tls, .proxyUnsupported: (502, "UPSTREAM_UNREACHABLE")
      case .upgradeRefused: (502, "UPSTREAM_STATUS")
      case .unauthorized: (401, "UNAUTHENTICATED")
      case .forbidden: (403, "FORBIDDEN")
      case .tooManyOperations: (503, "UPSTREAM_OVERLOADED")
      case .shutDown: (503, "UPSTREAM_UNAVAILABLE")
      default: (502, "UPSTREAM_FAILED")
      }
    #expect((answer.status, answer.code) == expected)
    #expect(!answer.message.contains("secret") && !answer.message.contains("inside"))
  }

  @Test(
    "the status of a refused WebSocket handshake counts as that of a response",
    arguments: [(401, "UNAUTHENTICATED"), (403, "FORBIDDEN"), (429, "TOO_MANY_REQUESTS"), (503, "UPSTREAM_UNAVAILABLE")])
  func handshake(_ status: Int, _ code: String) {
    let answer = FailureAnswer(WebSocketError(.upgradeRefused, "no", url: "ws://inside", statusCode: status)) { $0 }
    #expect((answer.status, answer.code) == (status, code))
  }

  @Test("a message is cut after 500 scalars", .rule("gateway.21"))
  func cut() throws {
    let message = try error(Refused(refusalMessage: String(repeating: "é", count: 600)))?["message"]?.string
    #expect(message == String(repeating: "é", count: 500))
  }

  @Test(
    "a detail that is not JSON is left out", .rule("gateway.21"),
    arguments: ["{", "", "nothing", String(repeating: "[", count: 40)])
  func malformed(_ detail: String) throws {
    #expect(try error(Refused(refusalMessage: "no", refusalDetail: detail))?["extensions"] == ["code": "FORBIDDEN"])
  }

  @Test(
    "only words of refusals with 400 to 499 and of 503 are for clients", .rule("gateway.21"),
    arguments: [400, 404, 429, 499, 503, 500, 502, 504, 599])
  func statuses(_ status: Int) throws {
    let message = try error(Refused(refusalStatus: status, refusalMessage: "words", refusalDetail: "1"))
    #expect((message?["message"] == "words") == (status < 500 || status == 503))
    #expect((message?["extensions"]?["detail"] == 1) == (status < 500 || status == 503))
  }
}
