/// The header `traceparent` of W3C Trace Context: the span in which a request was made.
package struct TraceParent: Sendable, Hashable {
  /// The field's name.
  package static let fieldName = "traceparent"

  package var traceID: TraceID
  package var spanID: SpanID
  /// Whether the client records the trace of the request.
  package var isSampled: Bool

  /// Creates a parent.
  package init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
  }

  /// Parses the value of the header; nil if it is malformed and must be ignored.
  ///
  /// The known fields of a later version are read, as the standard requires.
  package init?(_ text: String) {
    let bytes = text.utf8Span.span
    // 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
    guard bytes.count >= 55, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
      let version = Self.number(bytes, 0..<2), version != 0xFF,
      version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == Self.dash,
      let high = Self.number(bytes, 3..<19), let low = Self.number(bytes, 19..<35),
      let traceID = TraceID(high: high, low: low),
      let spanID = Self.number(bytes, 36..<52).flatMap(SpanID.init), let flags = Self.number(bytes, 53..<55)
    else { return nil }
    self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
  }

  private static let dash = UInt8(ascii: "-")

  /// The value of lower-case hexadecimal digits; nil if a character is not one.
  private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var number: UInt64 = 0
    for index in range {
      let digit: UInt8
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = bytes[index] - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = bytes[index] - UInt8(ascii: "a") + 10
      default: return nil
      }
      number = number << 4 | UInt64(digit)
    }
    return number
  }
}

extension TraceParent: CustomStringConvertible {
  /// The field's value.
  package var description: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}
