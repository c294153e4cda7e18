internal import NIOHTTP1

/// Checks the fields of a request's head that decide which host it is for and where its body ends (RFC 9112, 3 and 6).
struct RequestHeadCheck: Sendable {
  /// Whether the client waits for `100 Continue` before it sends the body.
  private(set) var expectsContinue = false
  /// Whether the client offers to switch to another protocol.
  private(set) var offersUpgrade = false
  private var hosts: [String] = []
  private var codings: [String] = []

  /// Checks a head, and converts a target in absolute form to origin form.
  ///
  /// - Throws: ``HTTPRefusal``.
  init(_ head: inout HTTPRequestHead, limits: GatewayLimits) throws(HTTPRefusal) {
    for (name, value) in head.headers {
      // The length excludes most names without a comparison.
      switch name.utf8.count {
      case 4 where name.isField("host"): hosts.append(value.withoutSpaces)
      case 6 where name.isField("expect"): try takeExpectation(value)
      case 7 where name.isField("upgrade"): offersUpgrade = true
      case 14 where name.isField("content-length"): try Self.checkLength(value, limits)
      case 17 where name.isField("transfer-encoding"): codings.append(value.withoutSpaces)
      default: break
      }
    }
    // The following checks are for HTTP/1 only. HTTP/2 fields are checked where its frames are read.
    guard head.version.major == 1 else { return }
    try checkCodings(head.version)
    try checkHost(head.version)
    if !head.uri.utf8.starts(with: "/".utf8) { try Self.checkTarget(&head) }
  }

  private mutating func takeExpectation(_ value: String) throws(HTTPRefusal) {
    guard value.withoutSpaces.lowercased() == "100-continue" else {
      throw HTTPRefusal(status: .expectationFailed, message: "the only expectation that is supported is 100-continue")
    }
    expectsContinue = true
  }

  private static func checkLength(_ text: String, _ limits: GatewayLimits) throws(HTTPRefusal) {
    // The parser accepts only digits, so a value that is not an Int is too large for one.
    guard let length = Int(text.withoutSpaces), length <= limits.maximumBodyBytes else { throw .bodyTooLarge(limits) }
  }

  /// Rejects transfer codings other than chunked, because the end of such a body cannot be found (RFC 9112, 6.1).
  private func checkCodings(_ version: HTTPVersion) throws(HTTPRefusal) {
    guard !codings.isEmpty else { return }
    guard version.minor > 0 else {
      throw HTTPRefusal(status: .badRequest, message: "HTTP/1.0 has no Transfer-Encoding; send Content-Length")
    }
    guard codings.count == 1, codings[0].isField("chunked") else {
      throw HTTPRefusal(
        status: .notImplemented, message: "the only transfer coding that is supported is chunked, applied once")
    }
  }

  /// Requires exactly one valid Host field; HTTP/1.0 requests may omit it (RFC 9112, 3.2).
  private func checkHost(_ version: HTTPVersion) throws(HTTPRefusal) {
    guard hosts.count == 1 || hosts.isEmpty && version.minor == 0 else {
      throw HTTPRefusal(status: .badRequest, message: "a request needs exactly one Host field, and this one has \(hosts.count)")
    }
    guard hosts.allSatisfy(Authority.isValid) else {
      throw HTTPRefusal(status: .badRequest, message: "the Host field does not contain a host and an optional port")
    }
  }

  /// Replaces the Host field by the authority of a target in absolute form (RFC 9112, 3.2.2).
  private static func checkTarget(_ head: inout HTTPRequestHead) throws(HTTPRefusal) {
    if head.uri == "*", head.method == .OPTIONS { return }
    guard head.method != .CONNECT else {
      throw HTTPRefusal(status: .notImplemented, message: "CONNECT is not supported")
    }
    let schemes = ["http://", "https://"]
    guard let scheme = schemes.first(where: { head.uri.prefix($0.count).lowercased() == $0 }) else {
      throw HTTPRefusal(status: .badRequest, message: "the target of the request is not a path and not an http URL")
    }
    let rest = head.uri.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard Authority.isValid(String(authority)) else {
      throw HTTPRefusal(status: .badRequest, message: "the URL of the request does not contain a host and an optional port")
    }
    let path = rest.dropFirst(authority.count)
    head.headers.replaceOrAdd(name: "Host", value: String(authority))
    head.uri = path.hasPrefix("/") ? String(path) : "/\(path)"
  }
}

extension HTTPRefusal {
  static func bodyTooLarge(_ limits: GatewayLimits) -> Self {
    Self(status: .payloadTooLarge, message: "the body is longer than \(limits.maximumBodyBytes) bytes")
  }
}

/// A host with an optional port, as in the Host field and `:authority` (RFC 9110, 7.2).
enum Authority {
  /// Whether a text is a valid authority. The host must not be empty (RFC 9110, 4.2.1).
  static func isValid(_ text: String) -> Bool {
    let bytes = text.utf8
    var rest: Substring.UTF8View
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = bytes[bytes.index(after: bytes.startIndex)..<end]
      guard !address.isEmpty, address.allSatisfy(isAddressByte) else { return false }
      rest = Substring(text).utf8[bytes.index(after: end)...]
    } else {
      let end = bytes.firstIndex { !isNameByte($0) } ?? bytes.endIndex
      guard end != bytes.startIndex else { return false }
      rest = Substring(text).utf8[end...]
    }
    guard let colon = rest.popFirst() else { return true }
    return colon == UInt8(ascii: ":") && rest.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Whether a byte is allowed in a host name: unreserved bytes, percent signs and sub-delimiters (RFC 3986, 3.2.2).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "-._~%!$&'()*+,;=".utf8.contains(byte)
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || ":.-_~%!$&'()*+,;=".utf8.contains(byte) }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}

extension String {
  /// Whether the text equals a lower-case field name, ignoring case.
  func isField(_ name: String) -> Bool {
    utf8.count == name.utf8.count && zip(utf8, name.utf8).allSatisfy { $0 | 0x20 == $1 }
  }

  /// The text without leading and trailing spaces and tabs.
  fileprivate var withoutSpaces: String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
    var rest = Substring(self).utf8.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return String(Substring(rest))
  }
}
