internal import CarabinerWire
internal import NIOHTTP1

/// Checks the fields of a request's head that concern its body, for HTTP/1.1 and HTTP/2.
///
/// The readers of both protocols have checked everything that decides which host a request is for and where it ends.
struct RequestHeadCheck: Sendable {
  /// Whether the client waits for `100 Continue` before it sends the body.
  private(set) var expectsContinue = false
  /// Whether the client offers to switch to another protocol.
  private(set) var offersUpgrade = false

  /// Checks a head.
  ///
  /// - Throws: ``HTTPRefusal``.
  init(_ head: HTTPRequestHead, limits: GatewayLimits) throws(HTTPRefusal) {
    for (name, value) in head.headers {
      // The length excludes most names without a comparison.
      switch name.utf8.count {
      case 6 where name.isField("expect"): try takeExpectation(value)
      case 7 where name.isField("upgrade"): offersUpgrade = true
      case 14 where name.isField("content-length"): try Self.checkLength(value, limits)
      default: break
      }
    }
  }

  private mutating func takeExpectation(_ value: String) throws(HTTPRefusal) {
    guard value.withoutSpaces.lowercased() == "100-continue" else {
      throw HTTPRefusal(status: .expectationFailed, message: "the only expectation that is supported is 100-continue")
    }
    expectsContinue = true
  }

  private static func checkLength(_ text: String, _ limits: GatewayLimits) throws(HTTPRefusal) {
    // The reader accepts only digits, so a value that is not an Int is too large for one.
    guard let length = Int(text.withoutSpaces), length <= limits.maximumBodyBytes else { throw .bodyTooLarge(limits) }
  }
}

extension HTTPRefusal {
  static func bodyTooLarge(_ limits: GatewayLimits) -> Self {
    Self(status: .payloadTooLarge, message: "the body is longer than \(limits.maximumBodyBytes) bytes")
  }
}

extension String {
  /// Whether the text equals a field name, ignoring case.
  func isField(_ name: String) -> Bool {
    utf8.count == name.utf8.count && utf8Span.span.isEqualIgnoringCase(name.utf8Span.span)
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
