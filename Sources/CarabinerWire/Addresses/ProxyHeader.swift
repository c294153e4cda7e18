/// The header of the PROXY protocol, version 1 or 2, that a proxy sends before the bytes of its client.
package enum ProxyHeader: Sendable, Hashable {
  /// More bytes are needed.
  case incomplete
  /// The bytes are not a header.
  case malformed
  /// A header of this many bytes. The address is nil for a connection of the proxy itself, or of a kind without an IP address.
  case complete(client: IPAddress?, length: Int)

  /// The longest header of version 1, with its line end.
  package static let maximumLine = 107
  /// The longest header of version 2.
  package static let maximumBinary = 536

  private static let word = Array("PROXY ".utf8)
  private static let lineEnd = Array("\r\n".utf8)
  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
  /// The signature, the command, the family and the length of the rest.
  private static let binaryHead = 16

  /// Parses the bytes that a proxy has sent so far. At most ``maximumBinary`` of them are read.
  package init(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(Self.maximumBinary))
    if bytes.starts(with: Self.signature.prefix(bytes.count)) {
      self = Self.binary(bytes)
    } else if bytes.starts(with: Self.word.prefix(bytes.count)) {
      self = Self.line(bytes)
    } else {
      self = .malformed
    }
  }

  // MARK: Version 1

  private static func line(_ bytes: [UInt8]) -> ProxyHeader {
    guard let end = bytes.prefix(maximumLine).firstRange(of: lineEnd) else {
      return bytes.count < maximumLine ? .incomplete : .malformed
    }
    let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    // The rest of such a line has no meaning.
    if words.count >= 2, words[1] == "UNKNOWN" { return .complete(client: nil, length: end.upperBound) }
    guard words.count == 6, ["TCP4", "TCP6"].contains(words[1]), isPort(words[4]), isPort(words[5]),
      let client = IPAddress(words[2]), IPAddress(words[3]) != nil, words[2].contains(":") == (words[1] == "TCP6"),
      words[3].contains(":") == (words[1] == "TCP6")
    else { return .malformed }
    return .complete(client: client, length: end.upperBound)
  }

  private static func isPort(_ text: Substring) -> Bool {
    (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(text) != nil
      && (text == "0" || text.first != "0")
  }

  // MARK: Version 2

  private static func binary(_ bytes: [UInt8]) -> ProxyHeader {
    guard bytes.count >= binaryHead else { return .incomplete }
    let (command, family) = (bytes[12], bytes[13])
    let length = binaryHead + (Int(bytes[14]) << 8 | Int(bytes[15]))
    guard command == 0x20 || command == 0x21, length <= maximumBinary else { return .malformed }
    let addressBytes: Int
    // The low half is the transport of the client, which may be datagrams, as those of HTTP/3.
    switch family {
    case 0x00: addressBytes = 0
    case 0x11, 0x12: addressBytes = 12
    case 0x21, 0x22: addressBytes = 36
    case 0x31, 0x32: addressBytes = 216
    default: return .malformed
    }
    // The addresses of a local connection have no meaning.
    guard command == 0x20 || length >= binaryHead + addressBytes else { return .malformed }
    guard bytes.count >= length else { return .incomplete }
    guard command == 0x21 else { return .complete(client: nil, length: length) }
    func number(_ start: Int, _ count: Int) -> UInt64 { bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) } }
    switch family >> 4 {
    case 1:
      return .complete(client: IPAddress(v4: UInt32(truncatingIfNeeded: number(binaryHead, 4))), length: length)
    case 2:
      return .complete(client: IPAddress(high: number(binaryHead, 8), low: number(binaryHead + 8, 8)), length: length)
    default: return .complete(client: nil, length: length)
    }
  }
}
