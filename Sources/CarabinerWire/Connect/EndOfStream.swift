/// The last message of a Connect stream.
package struct EndOfStream: Sendable, Hashable {
  /// The error; nil if the call succeeded.
  package let error: ConnectErrorBody?
  /// The trailers, with names in lower case.
  package let metadata: [String: [String]]

  /// Reads the message; nil if it is not a JSON object, or if its error is neither an object nor null.
  package init?(parsing bytes: [UInt8]) {
    guard let object = (try? JSONValue(parsing: bytes))?.object else { return nil }
    switch object["error"] {
    case nil, .null?: error = nil
    case .object(let body)?: error = ConnectErrorBody(body)
    default: return nil
    }
    var metadata: [String: [String]] = [:]
    for (name, value) in object["metadata"]?.object ?? JSONObject() {
      let values = (value.array ?? []).compactMap(\.string)
      if !values.isEmpty { metadata[HeaderFields.lowercased(name), default: []] += values }
    }
    self.metadata = metadata
  }
}
