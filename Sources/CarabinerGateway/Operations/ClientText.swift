internal import CarabinerWire

/// Prepares texts of plugins for clients: removes control characters and secrets, and limits the length.
struct ClientText {
  /// The maximum number of Unicode scalars of a text.
  static let maximumScalars = 500
  private static let limits = JSONLimits(maximumDepth: 32)

  /// Replaces secrets in a text.
  let redact: (String) -> String

  func cleaned(_ text: String) -> String {
    // Redacted twice: a secret may contain control characters, or be interrupted by them.
    let scalars = redact(text).unicodeScalars.filter { $0.properties.generalCategory != .control }
    return String(
      String.UnicodeScalarView(redact(String(String.UnicodeScalarView(scalars))).unicodeScalars.prefix(Self.maximumScalars)))
  }

  /// A detail with all its texts cleaned; nil if it is not JSON.
  func detail(_ text: String) -> JSONValue? {
    (try? JSONValue(parsing: Array(text.utf8), limits: Self.limits)).map(cleaned)
  }

  private func cleaned(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(cleaned(text))
    case .array(let elements): .array(elements.map { cleaned($0) })
    case .object(let object): .object(JSONObject(object.lazy.map { (key: cleaned($0.key), value: cleaned($0.value)) }))
    default: value
    }
  }
}
