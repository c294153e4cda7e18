/// How the end of a body is found (RFC 9112, 6.3).
enum BodyFraming: Sendable, Hashable {
  /// There is no body.
  case empty
  /// The body has this many bytes.
  case length(Int)
  /// The body comes in chunks, which trailers follow.
  case chunked
  /// The body ends with the connection.
  case untilEnd

  /// Reads the framing from the headers.
  ///
  /// - Returns: Nil if the headers say nothing about a body.
  /// - Throws: ``HTTP1Error`` for headers that two readers may understand differently.
  init?(_ headers: HeaderBlock, isVersion10: Bool, _ rules: FieldRules) throws(HTTP1Error) {
    let coding = headers.firstIndex(of: .transferEncoding)
    let length = try Self.length(headers, rules)
    guard let coding else {
      guard let length else { return nil }
      self = .length(length)
      return
    }
    guard length == nil else { throw HTTP1Error(.ambiguousLength, "it has both a Content-Length and a Transfer-Encoding") }
    guard !isVersion10 else { throw HTTP1Error(.ambiguousLength, "it has a Transfer-Encoding, which HTTP/1.0 does not have") }
    let range = headers.valueRange(at: coding)
    guard headers.firstIndex(of: .transferEncoding, from: coding + 1) == nil,
      headers.bytes.span.isEqual(at: range, to: "chunked")
    else {
      throw HTTP1Error(.unsupportedCoding, "its transfer coding is not chunked alone")
    }
    self = .chunked
  }

  /// The value of Content-Length; nil if there is none. Equal values may be repeated.
  private static func length(_ headers: HeaderBlock, _ rules: FieldRules) throws(HTTP1Error) -> Int? {
    var length: Int?
    var next = headers.firstIndex(of: .contentLength)
    while let index = next {
      let value = try number(headers.bytes.span, headers.valueRange(at: index), rules)
      guard length == nil || length == value else { throw HTTP1Error(.ambiguousLength, "it declares several lengths") }
      length = value
      next = headers.firstIndex(of: .contentLength, from: index + 1)
    }
    return length
  }

  private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>, _ rules: FieldRules) throws(HTTP1Error) -> Int {
    var number = 0
    for index in range {
      guard Byte.isDigit(bytes[index]) else { return try refuse(bytes, range) }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = product.addingReportingOverflow(Int(bytes[index] &- Byte.zero))
      guard isTooLarge || overflows else {
        number = sum
        continue
      }
      guard rules.allowsEndlessLength else { return try refuse(bytes, range) }
      number = .max
    }
    return range.isEmpty ? try refuse(bytes, range) : number
  }

  private static func refuse(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP1Error) -> Int {
    throw HTTP1Error(
      .ambiguousLength, "it declares a length that is not a number: \(String(quoting: bytes.extracting(range), from: 0))")
  }
}
