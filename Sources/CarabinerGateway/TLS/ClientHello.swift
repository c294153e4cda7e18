internal import NIOCore

/// The ClientHello of a TLS client: the protocols and the host name that it asks for (RFC 8446, 4.1.2; RFC 7301, 3.1; RFC 6066, 3).
enum ClientHello: Sendable, Hashable {
  /// More bytes are needed.
  case incomplete
  /// The message cannot be parsed.
  case other
  /// The ALPN protocols that the client offers, nil without the extension, and the host name that it asks for.
  case offers([String]?, serverName: String?)

  private static let clientHello: UInt8 = 1
  /// The type and the length of a message.
  private static let headSize = 4
  private static let serverNameExtension: UInt16 = 0
  private static let alpnExtension: UInt16 = 16
  /// The maximum size of a message that is parsed, in bytes.
  static let maximumSize = 64 << 10

  /// Parses the bytes of the handshake that have arrived so far. A part of a message is not read.
  init(_ handshake: ByteBuffer) {
    let start = handshake.readerIndex
    guard handshake.readableBytes >= Self.headSize else {
      self = .incomplete
      return
    }
    guard let head = handshake.getInteger(at: start, as: UInt32.self), head >> 24 == Self.clientHello else {
      self = .other
      return
    }
    let size = Int(head & 0xFF_FFFF)
    guard let hello = handshake.getSlice(at: start + Self.headSize, length: size) else {
      self = size < Self.maximumSize ? .incomplete : .other
      return
    }
    self = Self.extensions(hello) ?? .other
  }

  private static func extensions(_ hello: ByteBuffer) -> ClientHello? {
    var hello = hello
    // Version and random number, session, cipher suites, compression methods.
    guard hello.readSlice(length: 34) != nil, hello.readLengthPrefixedSlice(as: UInt8.self) != nil,
      hello.readLengthPrefixedSlice(as: UInt16.self) != nil, hello.readLengthPrefixedSlice(as: UInt8.self) != nil,
      var extensions = hello.readLengthPrefixedSlice(as: UInt16.self)
    else { return nil }
    var offered: [String]?
    var serverName: String?
    while let kind = extensions.readInteger(as: UInt16.self), let content = extensions.readLengthPrefixedSlice(as: UInt16.self) {
      switch kind {
      case alpnExtension:
        guard let names = protocols(content) else { return nil }
        offered = offered ?? names
      case serverNameExtension: serverName = serverName ?? hostName(content)
      default: break
      }
    }
    return .offers(offered, serverName: serverName)
  }

  private static func protocols(_ content: ByteBuffer) -> [String]? {
    var content = content
    guard var list = content.readLengthPrefixedSlice(as: UInt16.self) else { return nil }
    var names: [String] = []
    while let name = list.readLengthPrefixedSlice(as: UInt8.self) { names.append(String(buffer: name)) }
    return names
  }

  private static func hostName(_ content: ByteBuffer) -> String? {
    var content = content
    guard var list = content.readLengthPrefixedSlice(as: UInt16.self), list.readInteger(as: UInt8.self) == 0,
      let name = list.readLengthPrefixedSlice(as: UInt16.self)
    else { return nil }
    return String(buffer: name)
  }
}
