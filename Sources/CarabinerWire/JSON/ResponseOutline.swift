internal import CJSON

/// Follows a GraphQL response that arrives in pieces, without keeping it.
///
/// It checks that the response is an object whose `data` and `errors` are of the right kind, and that strings and brackets end. In nested values
/// it does not check more, so it takes a quarter to a half of the instructions of ``JSONMembers``.
package struct ResponseOutline: Sendable {
  private var outline = CJSON_outline()

  package init(limits: JSONLimits = JSONLimits()) { unsafe CJSON_begin(&outline, limits.maximumDepth) }

  /// Follows the next bytes.
  ///
  /// - Returns: False if the text cannot be a GraphQL response. Then no more bytes may be followed.
  package mutating func follow(_ bytes: Span<UInt8>) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { unsafe CJSON_follow(&outline, $0.baseAddress, $0.count) }
  }

  /// Whether the response is complete, and has data or errors.
  package var isResponse: Bool { outline.isClosed && (outline.hasData || outline.hasErrors || outline.isUnsure) }

  /// Whether `errors` has had an entry.
  package var hasErrors: Bool { outline.hasErrors }
}
