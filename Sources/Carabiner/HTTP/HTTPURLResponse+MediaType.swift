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
    // Nearly every response is JSON. Its first letter is enough to exclude multipart, and needs no text.
    guard let place = headers.firstIndex(of: "Content-Type").flatMap({ headers.valueRange(at: $0).first }) else { return false }
    switch headers.bytes[place] {
    case UInt8(ascii: "m"), UInt8(ascii: "M"), UInt8(ascii: " "), 9: return mediaType?.hasPrefix("multipart/") == true
    default: return false
    }
  }

  /// Whether the body is an event stream.
  package var isEventStream: Bool {
    // As above, with the first letter.
    guard let place = headers.firstIndex(of: "Content-Type").flatMap({ headers.valueRange(at: $0).first }) else { return false }
    switch headers.bytes[place] {
    case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: " "), 9: return mediaType == "text/event-stream"
    default: return false
    }
  }

  /// Whether the media type is that of a GraphQL response.
  package var isGraphQLResponse: Bool { mediaType == "application/graphql-response+json" }

  /// The statuses of 400 to 499 that concern the caller and not the operation. Later stages handle them as errors.
  private static let callerStatuses: Set<Int> = [401, 403, 407, 408, 429]

  /// Whether the response has an error status and a body in which some servers send GraphQL errors.
  package var mayHoldGraphQLErrors: Bool {
    (400..<500).contains(statusCode) && !Self.callerStatuses.contains(statusCode) && mediaType == "application/json"
  }
}
