internal import CarabinerWire

/// The first line of a request: offsets into its head.
struct RequestLine: Sendable {
  var method = 0..<0
  /// Path and query.
  var path = 0..<0
  /// The host and port of a target in absolute form; nil for other forms.
  var authority: Range<Int>?
  var isVersion10 = false
  /// The beginning of the headers.
  var end = 0

  init() {}

  /// Reads the line at the beginning of a head.
  init(_ bytes: Span<UInt8>) throws(HTTP1Error) {
    var index = 0
    while index < bytes.count, bytes[index].isTokenByte { index &+= 1 }
    guard index > 0, index < bytes.count, bytes[index] == Byte.space else { throw Self.malformed(bytes) }
    method = 0..<index
    let target = index &+ 1
    index = target
    while index < bytes.count, Self.isTargetByte(bytes[index]) { index &+= 1 }
    guard index > target, index < bytes.count, bytes[index] == Byte.space else { throw Self.malformed(bytes) }
    try readVersion(bytes, at: index &+ 1)
    try readTarget(bytes, target..<index)
  }

  private static func isTargetByte(_ byte: UInt8) -> Bool { byte > Byte.space && byte < Byte.delete }

  private static func malformed(_ bytes: Span<UInt8>) -> HTTP1Error {
    HTTP1Error(.malformedHead, "its first line is malformed: \(String(quoting: bytes, from: 0))")
  }

  private mutating func readVersion(_ bytes: Span<UInt8>, at start: Int) throws(HTTP1Error) {
    let version = bytes.extracting(start...)
    guard version.count > 9, version.isPrefixed(by: "HTTP/"), Byte.isDigit(version[5]), version[6] == UInt8(ascii: "."),
      Byte.isDigit(version[7]), version[8] == Byte.carriageReturn, version[9] == Byte.lineFeed
    else { throw Self.malformed(bytes) }
    guard version[5] == Byte.zero + 1, version[7] <= Byte.zero + 1 else {
      throw HTTP1Error(.unsupportedVersion, "its version is not HTTP/1.0 or HTTP/1.1")
    }
    isVersion10 = version[7] == Byte.zero
    end = start &+ 10
  }

  private mutating func readTarget(_ bytes: Span<UInt8>, _ target: Range<Int>) throws(HTTP1Error) {
    path = target
    if bytes[target.lowerBound] == UInt8(ascii: "/") { return }
    if target.count == 1, bytes[target.lowerBound] == UInt8(ascii: "*"), bytes.isPrefixed(by: "OPTIONS ") { return }
    guard !bytes.isPrefixed(by: "CONNECT ") else { throw HTTP1Error(.unsupportedMethod, "CONNECT is not supported") }
    guard
      let scheme = [7, 8].first(where: { length in
        let text: StaticString = length == 7 ? "http://" : "https://"
        return target.count >= length && bytes.isEqual(at: target.prefix(length), to: text)
      })
    else {
      throw HTTP1Error(.badHost, "the target of the request is not a path and not an http URL")
    }
    var end = target.lowerBound + scheme
    while end < target.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end &+= 1 }
    let authority = target.lowerBound + scheme..<end
    guard Authority.isValid(bytes, at: authority) else {
      throw HTTP1Error(.badHost, "the URL of the request does not contain a host and an optional port")
    }
    self.authority = authority
    path = end..<target.upperBound
  }
}
