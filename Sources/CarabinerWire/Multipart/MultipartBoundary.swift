/// The delimiter between the parts of a multipart body.
public struct MultipartBoundary: Sendable, Hashable, CustomStringConvertible {
  /// The maximum number of bytes of a boundary (RFC 2046).
  public static let maximumBytes = 70

  /// The boundary, without the two leading hyphens of a delimiter.
  public let description: String

  /// Creates a boundary.
  ///
  /// - Throws: ``MultipartError`` with code `invalidBoundary` if RFC 2046 does not allow it.
  public init(_ text: String) throws(MultipartError) {
    guard !text.isEmpty else { throw Self.missing }
    guard text.utf8.count <= Self.maximumBytes, text.utf8.last != 0x20, text.utf8.allSatisfy(Self.isAllowed) else {
      throw MultipartError(
        .invalidBoundary,
        "the boundary \(text.prefix(Self.maximumBytes + 1).debugDescription) is not 1 to 70 of the characters RFC 2046 allows; "
          + "the server's Content-Type is wrong")
    }
    description = text
  }

  /// Creates the boundary of a Content-Type header.
  ///
  /// - Throws: ``MultipartError`` with code `missingBoundary` or `invalidBoundary`.
  public init(contentType: MediaType) throws(MultipartError) {
    let named = contentType.parameters.filter { $0.name == "boundary" }.map(\.value)
    guard let first = named.first else { throw Self.missing }
    guard named.allSatisfy({ $0 == first }) else {
      throw MultipartError(
        .invalidBoundary, "the Content-Type names two boundaries, \(first) and another; the server must send one")
    }
    try self.init(first)
  }

  private static let missing = MultipartError(
    .missingBoundary, "the Content-Type of a multipart body names no boundary; the server must send boundary=...")

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    // '()+_,-./:=? and space
    case 0x27...0x29, 0x2B...0x2F, 0x5F, 0x3A, 0x3D, 0x3F, 0x20: true
    default: false
    }
  }
}
