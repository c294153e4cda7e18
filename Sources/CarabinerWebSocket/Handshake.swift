internal import Carabiner
internal import CarabinerDigest
internal import CarabinerWire
internal import Foundation

/// Builds the request for a WebSocket, and checks the response (RFC 6455, 4.1).
struct Handshake: Sendable {
  /// The GUID that the standard appends to the key before hashing.
  private static let keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  private let opening: SocketOpening
  private let key: String

  init(_ opening: SocketOpening) {
    self.opening = opening
    var generator = SystemRandomNumberGenerator()
    key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
  }

  /// The value of Sec-WebSocket-Accept that the server must send.
  private var expectedAnswer: String {
    Data(Digest.sha1(Array((key + Self.keySuffix).utf8))).base64EncodedString()
  }

  /// The header fields of the request: the configured ones, and those of the handshake.
  var fields: [Carabiner.HTTPHeaders.Field] {
    let own: Carabiner.HTTPHeaders = [
      "Host": opening.endpoint.authority, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key, "Sec-WebSocket-Protocol": opening.configuration.webSocketProtocol.rawValue,
    ]
    var all = own
    for field in opening.headers where field.name.lowercased() == "host" { all["Host"] = field.value }
    for field in opening.headers where own[field.name] == nil { all.add(name: field.name, value: field.value) }
    return all.fields
  }

  /// Checks a response with status 101.
  ///
  /// - Parameter values: Returns all values of a header.
  func check(_ values: (String) -> [String]) throws(WebSocketError) {
    func has(_ header: String, _ word: String) -> Bool {
      values(header).flatMap { $0.split(separator: ",") }.contains {
        $0.trimmingCharacters(in: .whitespaces).lowercased() == word
      }
    }
    guard has("upgrade", "websocket"), has("connection", "upgrade") else {
      throw invalid("the Upgrade and Connection headers are missing")
    }
    guard values("sec-websocket-accept") == [expectedAnswer] else {
      throw invalid("its Sec-WebSocket-Accept does not match the key")
    }
    guard values("sec-websocket-extensions").isEmpty else { throw invalid("it uses extensions that were not requested") }
    let wanted = opening.configuration.webSocketProtocol.rawValue
    let chosen = values("sec-websocket-protocol")
    guard chosen == [wanted] else {
      let answer = chosen.isEmpty ? "chose none" : "chose \(chosen.joined(separator: ", ").prefix(100).debugDescription)"
      let other = WebSocketProtocol.allCases.first { $0.rawValue != wanted }?.rawValue ?? ""
      throw opening.error(
        .subprotocolRefused,
        "the subprotocol \(wanted) was requested, and the server \(answer); use \(other) if the server supports it"
      )
    }
  }

  private func invalid(_ reason: String) -> WebSocketError {
    opening.error(
      .invalidUpgrade,
      "the answer to the handshake is invalid: \(reason); check that the URL is that of a WebSocket")
  }

  /// The error for a response with a status other than 101.
  func refusal(_ status: Int, location: String?, body: String) -> WebSocketError {
    let advice =
      switch status {
      case 300..<400:
        "redirects are not followed: use the target URL\(location.map { ", \(PrintableURL($0).description.prefix(200))" } ?? "")"
      case 401, 403: "check the headers of the handshake"
      case 404: "check the path of the URL"
      case 426, 400, 405: "check that the URL is that of a WebSocket, and which subprotocol it supports"
      case 500...: "check the log of the server"
      default: "check the URL"
      }
    let words = body.isEmpty ? "" : ", saying \(body.prefix(200).debugDescription)"
    return opening.error(
      .upgradeRefused, "the server refused the WebSocket with status \(status)\(words); \(advice)", statusCode: status)
  }
}
