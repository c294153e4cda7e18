/// Writes the parts of a `multipart/mixed` body (RFC 2046).
///
/// A part ends with the delimiter of the next, so its reader need not wait for that one to know the part is whole. JSON has
/// its line breaks escaped, so no part contains the delimiter.
package struct MultipartWriter: Sendable {
  /// The media type of the whole, with its boundary.
  package let contentType: String

  private static let boundary = "carabiner"

  /// - Parameter specification: `deferSpec=20220824` or `subscriptionSpec=1.0`.
  package init(specification: String) {
    contentType = "multipart/mixed;boundary=\"\(Self.boundary)\";\(specification)"
  }

  /// The beginning of the body.
  package var opening: [UInt8] { Array("--\(Self.boundary)".utf8) }

  /// A part with this JSON.
  package func part(_ json: some Collection<UInt8>) -> [UInt8] {
    Array("\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8) + json + Array("\r\n--\(Self.boundary)".utf8)
  }

  /// The end of the body.
  package var closing: [UInt8] { Array("--\r\n".utf8) }
}
