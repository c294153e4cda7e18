/// Writes the parts of a `multipart/mixed` body (RFC 2046).
///
/// The delimiter of the next part is written with each part, so that a reader need not wait for the next part. JSON cannot
/// contain the delimiter, because line breaks in strings are escaped.
package struct MultipartWriter: Sendable {
  /// The media type of the body, with its boundary.
  package let contentType: String

  private static let boundary = "carabiner"

  /// - Parameter specification: `deferSpec=20220824` or `subscriptionSpec=1.0`.
  package init(specification: String) {
    contentType = "multipart/mixed;boundary=\"\(Self.boundary)\";\(specification)"
  }

  /// The beginning of the body.
  package var opening: [UInt8] { Array("--\(Self.boundary)".utf8) }

  /// The bytes before and after the JSON of a part.
  package static let partOpening = Array("\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8)
  package static let partClosing = Array("\r\n--\(boundary)".utf8)

  /// A part with this JSON.
  package func part(_ json: some Collection<UInt8>) -> [UInt8] { Self.partOpening + json + Self.partClosing }

  /// The end of the body.
  package var closing: [UInt8] { Array("--\r\n".utf8) }
}
