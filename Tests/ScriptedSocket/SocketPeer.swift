internal import CarabinerDigest
package import CarabinerWire
package import Foundation
package import ScriptedServer

/// A WebSocket of a scripted server, which may follow the protocol or violate it.
package final class SocketPeer {
  package enum Opcode {
    package static let continuation: UInt8 = 0
    package static let text: UInt8 = 1
    package static let binary: UInt8 = 2
    package static let close: UInt8 = 8
    package static let ping: UInt8 = 9
    package static let pong: UInt8 = 10
  }

  package struct Frame {
    package let opcode: UInt8
    package let isMasked: Bool
    package let payload: [UInt8]
  }

  package let peer: Peer
  package let request: ReceivedRequest
  private var unread: [UInt8] = []

  /// Reads the request of a handshake; nil if the client has disconnected.
  package init?(_ peer: Peer) throws {
    guard let request = try peer.request() else { return nil }
    self.peer = peer
    self.request = request
  }

  /// The value of Sec-WebSocket-Accept for the key of the request.
  package var accept: String {
    let key = request.header("Sec-WebSocket-Key") ?? ""
    return Data(Digest.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
  }

  /// Accepts the handshake. Another subprotocol or key answer may be passed.
  package func upgrade(subprotocol: String? = nil, accept: String? = nil, extra: String = "", and frames: [UInt8] = []) throws {
    let chosen = subprotocol ?? request.header("Sec-WebSocket-Protocol") ?? ""
    let head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: \(accept ?? self.accept)\r\n"
      + (chosen.isEmpty ? "" : "Sec-WebSocket-Protocol: \(chosen)\r\n") + extra + "\r\n"
    try peer.send(Array(head.utf8) + frames)
  }

  /// Accepts the handshake, waits for `connection_init` and acknowledges it.
  ///
  /// - Returns: The payload of `connection_init`.
  @discardableResult
  package func begin() throws -> JSONValue? {
    try upgrade()
    let first = try message()
    try send(#"{"type":"connection_ack"}"#)
    return first?["payload"]
  }

  // MARK: Reading

  /// The next frame; nil if the client has disconnected.
  package func frame() -> Frame? {
    guard let head = take(2) else { return nil }
    var length = Int(head[1] & 0x7F)
    if length == 126 || length == 127 {
      guard let long = take(length == 126 ? 2 : 8) else { return nil }
      length = long.reduce(0) { $0 << 8 | Int($1) }
    }
    let isMasked = head[1] & 0x80 != 0
    guard let mask = isMasked ? take(4) : [0, 0, 0, 0], let payload = take(length) else { return nil }
    return Frame(
      opcode: head[0] & 0x0F, isMasked: isMasked, payload: payload.enumerated().map { $1 ^ mask[$0 % 4] })
  }

  /// The next text message; nil if the client has closed the WebSocket or disconnected.
  package func message() throws -> JSONValue? {
    while let frame = frame() {
      switch frame.opcode {
      case Opcode.text: return try JSONValue(parsing: frame.payload)
      case Opcode.close: return nil
      default: continue
      }
    }
    return nil
  }

  /// Reads until a message of this type arrives.
  ///
  /// - Returns: The id of the message; nil if the client closes before.
  package func id(of type: String) throws -> String? {
    while let message = try message() {
      if message["type"]?.string == type { return message["id"]?.string }
    }
    return nil
  }

  /// The close code of the client; nil if it disconnects without one.
  package func closeCode() -> Int? {
    while let frame = frame() {
      guard frame.opcode == Opcode.close else { continue }
      return frame.payload.count >= 2 ? Int(frame.payload[0]) << 8 | Int(frame.payload[1]) : 1005
    }
    return nil
  }

  private func take(_ count: Int) -> [UInt8]? {
    while unread.count < count {
      guard let more = peer.receive() else { return nil }
      unread += more
    }
    defer { unread.removeFirst(count) }
    return Array(unread[..<count])
  }

  // MARK: Writing

  package func send(_ text: String) throws { try peer.send(Self.frame(Opcode.text, Array(text.utf8))) }

  package func send(_ opcode: UInt8, _ payload: [UInt8] = [], isLast: Bool = true) throws {
    try peer.send(Self.frame(opcode, payload, isLast: isLast))
  }

  /// A result of a subscription to a count.
  package func next(_ id: String, _ count: Int) throws { try send(Self.next(id, count)) }

  package func complete(_ id: String) throws { try send(#"{"id":"\#(id)","type":"complete"}"#) }

  package func close(_ code: UInt16, _ reason: String = "") throws {
    try send(Opcode.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
  }

  package static func next(_ id: String, _ count: Int) -> String {
    #"{"id":"\#(id)","type":"next","payload":{"data":{"count":\#(count)}}}"#
  }

  package static func frame(_ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true) -> [UInt8] {
    var frame: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
    switch payload.count {
    case ..<126: frame.append(UInt8(payload.count))
    case ..<65536: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: frame += [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return frame + payload
  }
}

extension ScriptedServer {
  /// Creates a WebSocket server.
  package static func sockets(_ script: @escaping @Sendable (SocketPeer) throws -> Void) throws -> ScriptedServer {
    try ScriptedServer { peer in
      guard let socket = try SocketPeer(peer) else { return }
      try script(socket)
    }
  }

  package var socketURL: URL { URL(string: "ws://127.0.0.1:\(port)/graphql") ?? URL(filePath: "/") }
}
