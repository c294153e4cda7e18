/// The parts of a URL from which a request of HTTP/1.1 is made.
struct HTTP1Address {
  /// The scheme, host and port, such as `http://localhost:4000`. Each has its own connections.
  let origin: String
  /// The value of the Host header: without the default port of the scheme.
  let authority: String
  /// The path and the query.
  let target: String
  let isTLS: Bool

  /// Takes a URL apart.
  ///
  /// - Returns: Nil for a URL that needs libcurl: one with a user, with segments `.` or `..`, or with bytes that must be encoded.
  init?(_ url: String) {
    var rest = url.utf8[...]
    if rest.starts(with: "http://".utf8) {
      isTLS = false
      rest = rest.dropFirst(7)
    } else if rest.starts(with: "https://".utf8) {
      isTLS = true
      rest = rest.dropFirst(8)
    } else {
      return nil
    }
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let shown = Self.shownAuthority(authority, isTLS: isTLS), let target = Self.target(rest[authority.endIndex...]) else {
      return nil
    }
    self.authority = shown
    self.target = target
    origin = "\(isTLS ? "https" : "http")://\(Substring(authority))"
  }

  /// The host and port without a default port; nil if they need libcurl.
  private static func shownAuthority(_ authority: Substring.UTF8View, isTLS: Bool) -> String? {
    let host: Substring.UTF8View
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = authority[...end]
      guard host.dropFirst().dropLast().allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else {
        return nil
      }
    } else {
      host = authority.prefix { $0 != UInt8(ascii: ":") }
      guard
        host.allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") })
      else { return nil }
    }
    let port = authority[host.endIndex...]
    guard !host.isEmpty else { return nil }
    guard !port.isEmpty else { return String(Substring(host)) }
    guard port.first == UInt8(ascii: ":"), let number = UInt16(Substring(port.dropFirst())), number > 0,
      port.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return number == (isTLS ? 443 : 80) ? String(Substring(host)) : String(Substring(authority))
  }

  private static func target(_ rest: Substring.UTF8View) -> String? {
    let shown = rest.prefix { $0 != UInt8(ascii: "#") }
    guard shown.allSatisfy(isPlain) else { return nil }
    let path = shown.prefix { $0 != UInt8(ascii: "?") }
    guard !hasDotSegment(path) else { return nil }
    return path.isEmpty ? "/\(Substring(shown))" : String(Substring(shown))
  }

  /// Whether a segment is `.` or `..`. libcurl removes such segments.
  private static func hasDotSegment(_ path: Substring.UTF8View) -> Bool {
    var dots = 0
    var isDotted = true
    for byte in path {
      if byte == UInt8(ascii: "/") {
        if isDotted, dots > 0 { return true }
        (dots, isDotted) = (0, true)
      } else if byte == UInt8(ascii: ".") {
        dots += 1
        if dots > 2 { isDotted = false }
      } else {
        isDotted = false
      }
    }
    return isDotted && dots > 0
  }

  /// Whether a path or a query may have the byte (RFC 3986, 3.3 and 3.4).
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "$")...UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "?")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "~"), UInt8(ascii: "["), UInt8(ascii: "]"),
      UInt8(ascii: "|"):
      true
    default: false
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
    default: false
    }
  }
}
