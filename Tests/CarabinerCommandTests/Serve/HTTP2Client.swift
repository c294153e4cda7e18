import Foundation
import ScriptedServer

/// A connection of HTTP/2 in the hands of a test, which may keep the rules or break them.
final class HTTP2Client {
  struct Frame {
    let kind: UInt8
    let flags: UInt8
    let stream: UInt32
    let payload: [UInt8]

    var endsStream: Bool { (kind == Kind.data || kind == Kind.headers) && flags & 0x1 != 0 }
    /// The error code at the end of RST_STREAM, and behind the stream's number in GOAWAY.
    var errorCode: UInt8? { kind == Kind.goAway ? payload.dropFirst(7).first : payload.last }
  }

  enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
  }

  private let gateway: ServeProcess
  private let socket: ClientSocket
  private var unread: [UInt8] = []

  /// Connects, and says that it speaks HTTP/2.
  init(_ gateway: ServeProcess) throws {
    self.gateway = gateway
    socket = try ClientSocket(port: gateway.port)
    socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    send(Kind.settings, 0, 0, [])
  }

  @discardableResult
  func send(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> Bool {
    let size = payload.count
    return socket.send(
      [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255), kind, flags]
        + (0..<4).reversed().map { UInt8(truncatingIfNeeded: stream >> ($0 * 8)) } + payload)
  }

  /// Sends the head of a POST to the path of operations, and its body if there is one.
  func post(_ stream: UInt32, _ body: String?, headers: [(String, String)] = []) {
    let fields =
      [(":method", "POST"), (":scheme", "http"), (":path", "/graphql"), (":authority", "gateway")]
      + [("content-type", "application/json"), ("accept", "application/json, text/event-stream")] + headers
    // Literals without an index, not compressed (RFC 7541, 6.2.2).
    let block = fields.flatMap { name, value in
      [0] + [UInt8(name.utf8.count)] + name.utf8 + Self.length(value.utf8.count) + value.utf8
    }
    send(Kind.headers, 0x4, stream, block)
    if let body { send(Kind.data, 0x1, stream, Array(body.utf8)) }
  }

  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 127 else { return [UInt8(count)] }
    var rest = count - 127
    var bytes: [UInt8] = [127]
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// Takes a request back.
  @discardableResult
  func reset(_ stream: UInt32) -> Bool { send(Kind.reset, 0, stream, [0, 0, 0, 8]) }

  func hangUp() { socket.hangUp() }

  /// The next frame that is not about the connection's settings and windows; nil once the other side has closed.
  func next() -> Frame? {
    while true {
      guard let head = take(9), let payload = take(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])) else { return nil }
      let stream = head[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
      switch head[3] {
      case Kind.settings: if head[4] & 1 == 0 { send(Kind.settings, 1, 0, []) }
      case Kind.ping: if head[4] & 1 == 0 { send(Kind.ping, 1, 0, payload) }
      case Kind.data, Kind.headers, Kind.reset, Kind.goAway:
        return Frame(kind: head[3], flags: head[4], stream: stream, payload: payload)
      default: continue
      }
    }
  }

  private func take(_ count: Int) -> [UInt8]? {
    while unread.count < count {
      guard let bytes = socket.receive(), !bytes.isEmpty else { return nil }
      unread += bytes
    }
    defer { unread.removeFirst(count) }
    return Array(unread.prefix(count))
  }
}
