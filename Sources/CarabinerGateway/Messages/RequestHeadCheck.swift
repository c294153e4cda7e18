internal import Carabiner
internal import CarabinerHTTP1
internal import CarabinerWire
internal import NIOHTTP1

/// The fields of a request's head that concern its body, for HTTP/1.1 and HTTP/2.
///
/// The readers of both protocols have checked everything that decides which host a request is for and where it ends.
struct RequestHeadCheck: Sendable {
  /// The declared length of the body in bytes; 0 if none is declared. A length that does not fit into Int counts as the largest Int.
  private(set) var bodyLength = 0
  /// Whether the client waits for `100 Continue` before it sends the body.
  private(set) var expectsContinue = false
  /// Whether the client offers to switch to another protocol.
  private(set) var offersUpgrade = false
  /// Whether the media type of the body may be that of a form. Only its beginning is compared; for most requests the first byte differs.
  private(set) var mayBeForm = false

  /// Takes the results of the reader of HTTP/1.1.
  init(_ reader: borrowing RequestReader) {
    bodyLength = reader.bodyLength ?? 0
    expectsContinue = reader.expectsContinue
    offersUpgrade = reader.offersUpgrade
    if let type = reader.headers.firstIndex(of: .contentType) {
      mayBeForm = Self.isLikeForm(reader.headers.bytes.span, reader.headers.valueRange(at: type))
    }
  }

  /// Checks the headers of a request on an HTTP/2 stream.
  ///
  /// - Throws: ``HTTPRefusal``.
  init(_ headers: Carabiner.HTTPHeaders) throws(HTTPRefusal) {
    for index in headers.indices {
      switch FieldName(headers.bytes.span.extracting(headers.nameRange(at: index))) {
      case .expect: try takeExpectation(headers.value(at: index))
      case .upgrade: offersUpgrade = true
      case .contentType: mayBeForm = mayBeForm || Self.isLikeForm(headers.bytes.span, headers.valueRange(at: index))
      case .contentLength: bodyLength = Int(headers.value(at: index).withoutSpaces) ?? .max
      default: break
      }
    }
  }

  private static func isLikeForm(_ bytes: Span<UInt8>, _ type: Range<Int>) -> Bool {
    !type.isEmpty && bytes[type.lowerBound] | 0x20 == UInt8(ascii: "m")
  }

  private mutating func takeExpectation(_ value: String) throws(HTTPRefusal) {
    guard value.withoutSpaces.lowercased() == "100-continue" else {
      throw HTTPRefusal(status: .expectationFailed, message: "the only expectation that is supported is 100-continue")
    }
    expectsContinue = true
  }
}

extension String {
  /// The text without leading and trailing spaces and tabs.
  fileprivate var withoutSpaces: String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
    var rest = Substring(self).utf8.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return String(Substring(rest))
  }
}
