import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer

/// A WebSocket client for tests, which can follow the protocol or break it.
final class WebSocketClient {
  struct Refused: Error {
    let answer: String
  }

  /// An event from the other side.
  enum Event: Equatable {
    case message(JSONValue)
    case ping
    case closed(UInt16, reason: String)
    /// The connection ended without a close frame.
    case gone
  }

  enum Opcode {
    static let continuation: UInt8 = 0
    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10
  }

  private let gateway: ServeProcess
  private let socket: ClientSocket
  private var unread: [UInt8] = []

  /// The request of a handshake, without the empty line at its end.
  static func handshake(_ headers: [String: String?] = [:]) -> String {
    let own: [String: String?] = [
      "Host": "gateway:4000", "Connection": "keep-alive, Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-ws, graphql-transport-ws",
    ]
    let fields = own.merging(headers) { $1 }.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
    return "GET /graphql HTTP/1.1\r\n" + fields.sorted().joined()
  }

  /// Connects and performs the handshake. A header with the value `nil` is left out.
  init(_ gateway: ServeProcess, _ headers: [String: String?] = [:]) throws {
    self.gateway = gateway
    socket = try ClientSocket(port: gateway.port)
    socket.send(Self.handshake(headers) + "\r\n")
    while unread.firstRange(of: Array("\r\n\r\n".utf8)) == nil, receive() {}
    let end = unread.firstRange(of: Array("\r\n\r\n".utf8))
    let head = String(decoding: unread[..<(end?.upperBound ?? unread.endIndex)], as: UTF8.self)
    guard let end, head.hasPrefix("HTTP/1.1 101"),
      // The example of RFC 6455, 1.3.
      head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
      head.contains("Sec-WebSocket-Protocol: graphql-transport-ws\r\n")
    else { throw Refused(answer: head + String(decoding: unread, as: UTF8.self)) }
    unread.removeSubrange(..<end.upperBound)
  }

  /// Connects, and performs the handshake and `connection_init`.
  convenience init(initialised gateway: ServeProcess, _ headers: [String: String?] = [:]) throws {
    try self.init(gateway, headers)
    send(#"{"type":"connection_init"}"#)
    let first = next()
    guard first == .message(["type": "connection_ack"]) else { throw Refused(answer: "\(first)") }
  }

  // MARK: Sending

  /// Sends a frame. Returns false if the other side has closed the connection.
  @discardableResult
  func send(
    _ opcode: UInt8 = Opcode.text, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true, reserved: UInt8 = 0
  ) -> Bool {
    var frame: [UInt8] = [(isFinal ? 0x80 : 0) | reserved | opcode]
    let flag: UInt8 = isMasked ? 0x80 : 0
    switch payload.count {
    case ..<126: frame.append(flag | UInt8(payload.count))
    case ..<65536: frame += [flag | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    default: frame += [flag | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    }
    let mask: [UInt8] = [1, 2, 3, 4]
    frame += isMasked ? mask + payload.enumerated().map { $1 ^ mask[$0 % 4] } : payload
    return socket.send(frame)
  }

  /// Sends a message.
  @discardableResult
  func send(_ text: String) -> Bool { send(Opcode.text, Array(text.utf8)) }

  /// Sends bytes that need not be a valid frame.
  func sendRaw(_ bytes: [UInt8]) { socket.send(bytes) }

  func subscribe(_ id: String, _ query: String) {
    let message: JSONValue = ["id": .string(id), "type": "subscribe", "payload": ["query": .string(query)]]
    send(message.description)
  }

  func complete(_ id: String) { send("{\"type\":\"complete\",\"id\":\"\(id)\"}") }

  /// Closes the connection without a close frame.
  func hangUp() { socket.hangUp() }

  // MARK: Receiving

  /// The next event from the other side.
  func next() -> Event {
    while true {
      guard let head = take(2) else { return .gone }
      var length = Int(head[1] & 0x7F)
      if length >= 126 {
        guard let long = take(length == 126 ? 2 : 8) else { return .gone }
        length = long.reduce(0) { $0 << 8 | Int($1) }
      }
      guard let payload = take(length) else { return .gone }
      switch head[0] & 0x0F {
      case Opcode.text: return .message((try? JSONValue(parsing: payload)) ?? .string("no JSON"))
      case Opcode.ping: return .ping
      case Opcode.close:
        return .closed(
          payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
      default: continue
      }
    }
  }

  /// The next message, ignoring pings; nil if there is none.
  func message() -> JSONValue? {
    while true {
      switch next() {
      case .message(let message): return message
      case .ping: continue
      case .closed, .gone: return nil
      }
    }
  }

  /// The close code of the other side, ignoring everything before it.
  func closeCode() -> UInt16? {
    while true {
      switch next() {
      case .message, .ping: continue
      case .closed(let code, _): return code
      case .gone: return nil
      }
    }
  }

  private func take(_ count: Int) -> [UInt8]? {
    while unread.count < count { guard receive() else { return nil } }
    defer { unread.removeFirst(count) }
    return Array(unread.prefix(count))
  }

  private func receive() -> Bool {
    guard let bytes = socket.receive(), !bytes.isEmpty else { return false }
    unread += bytes
    return true
  }
}
