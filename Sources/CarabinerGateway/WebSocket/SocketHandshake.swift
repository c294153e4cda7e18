internal import Carabiner
internal import CarabinerDigest
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOHTTP1

/// Checks a WebSocket handshake and builds the response to it (RFC 6455, 4.2).
struct SocketHandshake: Sendable {
  /// The GUID that the standard appends to the key before hashing.
  private static let keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The header fields of the 101 response.
  let answer: NIOHTTP1.HTTPHeaders
  /// The subprotocol that both sides speak.
  let dialect: WebSocketProtocol
  /// Whether only `serve.cors` allows the page that opens the WebSocket.
  let isForeign: Bool

  /// Checks a WebSocket handshake.
  ///
  /// - Throws: A refusal with the status 400, 403 or 426.
  init(
    _ head: RequestHead, origins: OriginRule, crossOrigin: CrossOriginRule?, dialects: [WebSocketProtocol]
  ) throws(RequestRefusal) {
    guard head.headers.elements(of: "connection").contains(where: { $0.lowercased() == "upgrade" }) else {
      throw RequestRefusal(400, "a WebSocket request needs Connection: Upgrade", code: "BAD_HANDSHAKE")
    }
    guard head.headers.values(for: "sec-websocket-version") == ["13"] else {
      throw RequestRefusal(
        426, "only version 13 of WebSockets is supported", code: "BAD_HANDSHAKE", headers: ["Sec-WebSocket-Version": "13"])
    }
    let keys = head.headers.values(for: "sec-websocket-key")
    guard keys.count == 1, let key = keys.first, Data(base64Encoded: key)?.count == 16 else {
      throw RequestRefusal(400, "Sec-WebSocket-Key must be 16 bytes in base 64", code: "BAD_HANDSHAKE")
    }
    let wanted = head.headers.elements(of: "sec-websocket-protocol")
    guard let dialect = dialects.first(where: { dialect in wanted.contains { $0 == dialect.rawValue } }) else {
      let names = dialects.map(\.rawValue)
      throw RequestRefusal(
        400,
        "only the subprotocol\(names.count > 1 ? "s" : "") \(names.joined(separator: " and ")) "
          + "\(names.count > 1 ? "are" : "is") supported; request it with Sec-WebSocket-Protocol",
        code: "SUBPROTOCOL_NOT_ACCEPTABLE")
    }
    let offered = head.headers.values(for: "origin")
    let isListed = offered.count < 2 && origins.allows(offered.first, host: head.headers["host"])
    isForeign = !isListed
    guard isListed || offered.count == 1 && crossOrigin?.allows(offered[0]) == true else {
      throw RequestRefusal(
        403, "pages of the origin \(offered.joined(separator: ", ").prefix(200)) may not connect", code: "ORIGIN_NOT_ALLOWED")
    }
    let digest = Digest.sha1(Array((key + Self.keySuffix).utf8))
    answer = [
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": Data(digest).base64EncodedString(),
      "Sec-WebSocket-Protocol": dialect.rawValue,
    ]
    self.dialect = dialect
  }
}
