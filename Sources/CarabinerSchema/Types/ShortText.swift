internal import CarabinerWire

extension String {
  /// The most bytes of a value or a name in a message.
  private static var maximumTextBytes: Int { 60 }

  /// The text for a message. It is cut between scalars, because a character may have any number of them.
  var shortened: String {
    guard utf8.count > Self.maximumTextBytes else { return self }
    var (short, bytes) = ("", 0)
    for scalar in unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > Self.maximumTextBytes { break }
      short.unicodeScalars.append(scalar)
    }
    return short + "…"
  }

  /// The name of a field of a client for a message. A text that is not a name is quoted, so that it cannot look like a part of the message.
  var shortName: String { GraphQLName.isValid(self) ? shortened : JSONValue.string(shortened).description }
}

extension GraphQLDocument.Value {
  /// The value for a message.
  var shortText: String { description.shortened }
}

extension JSONValue {
  /// The value for a message. Lists and objects may be long, so only their kind is named.
  var shortText: String {
    switch self {
    case .array: "a list"
    case .object: "an object"
    case .string(let text): JSONValue.string(text.shortened).description
    case .null, .bool, .number: description.shortened
    }
  }
}
