/// An HTTP/2 client for tests, which can follow the protocol or break it.
public final class HTTP2Client {
  public struct Frame: Sendable, Hashable {
    public let kind: UInt8
    public let flags: UInt8
    public let stream: UInt32
    public let payload: [UInt8]

    public var endsStream: Bool { (kind == Kind.data || kind == Kind.headers) && flags & 0x1 != 0 }
    /// The error code: the last byte of RST_STREAM, or the byte after the stream's number in GOAWAY.
    public var errorCode: UInt8? { kind == Kind.goAway ? payload.dropFirst(7).first : payload.last }
  }

  public enum Kind {
    public static let data: UInt8 = 0
    public static let headers: UInt8 = 1
    public static let reset: UInt8 = 3
    public static let settings: UInt8 = 4
    public static let ping: UInt8 = 6
    public static let goAway: UInt8 = 7
    public static let windowUpdate: UInt8 = 8
    public static let continuation: UInt8 = 9
  }

  /// Kept alive as long as the connection.
  private let server: AnyObject?
  private let socket: ClientSocket
  private var unread: [UInt8] = []
  /// How many bytes the server has allowed to send beside the first window, by stream; 0 is the connection.
  public private(set) var windows: [UInt32: Int] = [:]

  public static let frameSize = 16 << 10

  /// Connects with prior knowledge of HTTP/2.
  ///
  /// - Parameter window: The initial window for responses, in bytes; nil for the protocol's 65,535.
  public init(port: Int, of server: AnyObject? = nil, window: UInt8? = nil) throws {
    self.server = server
    socket = try ClientSocket(port: port)
    socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    send(Kind.settings, 0, 0, window.map { [0, 4, 0, 0, 0, $0] } ?? [])
  }

  @discardableResult
  public func send(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> Bool {
    let size = payload.count
    return socket.send(
      [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255), kind, flags]
        + (0..<4).reversed().map { UInt8(truncatingIfNeeded: stream >> ($0 * 8)) } + payload)
  }

  /// Sends the head of a POST to the GraphQL endpoint, and its body if there is one.
  public func post(_ stream: UInt32, _ body: String?, headers: [(String, String)] = []) {
    head(
      stream,
      [(":method", "POST"), (":scheme", "http"), (":path", "/graphql"), (":authority", "gateway")]
        + [("content-type", "application/json"), ("accept", "application/json, text/event-stream")] + headers)
    if let body { send(Kind.data, 0x1, stream, Array(body.utf8)) }
  }

  /// The block of fields, literal and without indexing and compression (RFC 7541, 6.2.2).
  public static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in
      [0] + [UInt8(name.utf8.count)] + name.utf8 + length(value.utf8.count) + value.utf8
    }
  }

  /// Sends the head of a request.
  ///
  /// - Parameter size: The maximum number of bytes of a frame.
  public func head(_ stream: UInt32, _ fields: [(String, String)], ends: Bool = false, inFramesOf size: Int = frameSize) {
    let flags: UInt8 = ends ? 0x1 : 0
    var rest = Self.block(fields)[...]
    // A head larger than a frame continues in CONTINUATION frames (RFC 9113, 6.10).
    repeat {
      let part = rest.prefix(size)
      rest = rest.dropFirst(part.count)
      let isFirst = part.startIndex == 0
      send(isFirst ? Kind.headers : Kind.continuation, (rest.isEmpty ? 0x4 : 0) | (isFirst ? flags : 0), stream, Array(part))
    } while !rest.isEmpty
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

  /// Cancels a request.
  @discardableResult
  public func reset(_ stream: UInt32) -> Bool { send(Kind.reset, 0, stream, [0, 0, 0, 8]) }

  public func hangUp() { socket.hangUp() }

  /// The next frame, except for settings and window updates; nil if the other side has closed the connection.
  public func next() -> Frame? {
    while true {
      guard let head = take(9), let payload = take(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])) else { return nil }
      let stream = head[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
      switch head[3] {
      case Kind.settings: if head[4] & 1 == 0 { send(Kind.settings, 1, 0, []) }
      case Kind.ping: if head[4] & 1 == 0 { send(Kind.ping, 1, 0, payload) }
      case Kind.data, Kind.headers, Kind.reset, Kind.goAway:
        return Frame(kind: head[3], flags: head[4], stream: stream, payload: payload)
      case Kind.windowUpdate: windows[stream, default: 0] += payload.reduce(0) { $0 << 8 | Int($1) }
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
