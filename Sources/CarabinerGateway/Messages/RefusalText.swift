internal import CarabinerWire
internal import NIOHTTP1

/// The body of an error response: a GraphQL response with one error.
enum RefusalText {
  /// The body as JSON text.
  static func json(_ message: String, code: String, _ extensions: JSONObject = [:]) -> [UInt8] {
    JSONValue.object(["errors": list(message, code: code, extensions)]).serialized()
  }

  /// The value of `errors`.
  ///
  /// - Parameter extensions: Members of the error's `extensions` beside the code.
  static func list(_ message: String, code: String, _ extensions: JSONObject = [:]) -> JSONValue {
    var members: JSONObject = ["code": .string(code)]
    for (key, value) in extensions { members[key] = value }
    return [["message": .string(message), "extensions": .object(members)]]
  }

  /// The error code of a status, for errors without a code of their own.
  static func code(of status: HTTPResponseStatus) -> String {
    status.reasonPhrase.uppercased().replacing(" ", with: "_")
  }
}

extension RequestRefusal {
  /// The body as JSON text.
  var json: [UInt8] { RefusalText.json(message, code: code, extensions) }
}
