/// The error that a Connect server sends as JSON: the body of a unary response, or a member of the end of a stream.
package struct ConnectErrorBody: Sendable, Hashable {
  /// A detail of an error.
  package struct Detail: Sendable, Hashable {
    /// The full name of the message's type, perhaps after a prefix that ends with a slash.
    package let type: String
    /// The serialised message; nil if it was not base64.
    package let payload: [UInt8]?

    /// Creates a detail.
    package init(type: String, payload: [UInt8]?) {
      self.type = type
      self.payload = payload
    }
  }

  /// The name of the code, known or not; nil if there is none.
  package let code: String?
  /// The message; nil if there is none.
  package let message: String?
  /// The details, in order.
  package let details: [Detail]

  /// Reads an error. Members of unexpected types are ignored.
  package init(_ object: JSONObject) {
    code = object["code"]?.string
    message = object["message"]?.string
    details = (object["details"]?.array ?? []).compactMap { detail in
      guard let type = detail["type"]?.string else { return nil }
      return Detail(type: type, payload: detail["value"]?.string.flatMap { Base64.decoded($0) })
    }
  }

  /// Reads the body of a response; nil if it is not a JSON object.
  package init?(parsing bytes: [UInt8]) {
    guard let object = (try? JSONValue(parsing: bytes))?.object else { return nil }
    self.init(object)
  }
}
