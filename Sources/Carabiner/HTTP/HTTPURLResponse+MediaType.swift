internal import CarabinerWire

extension HTTPURLResponse {
  /// The media type of the body, lower-case and without parameters.
  package var mediaType: String? {
    guard let value = headers["Content-Type"] else { return nil }
    let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") && $0 != 9 }
    return String(decoding: type.map(\.asciiLowercased), as: UTF8.self)
  }

  /// Whether the body has parts.
  package var isMultipart: Bool {
    // Nearly every response is JSON. Its first letter is enough to exclude multipart.
    guard let value = headers["Content-Type"], let first = value.utf8.first,
      [UInt8(ascii: "m"), UInt8(ascii: " "), 9].contains(first.asciiLowercased)
    else { return false }
    return mediaType?.hasPrefix("multipart/") == true
  }

  /// Whether the media type is that of a GraphQL response.
  package var isGraphQLResponse: Bool { mediaType == "application/graphql-response+json" }
}
