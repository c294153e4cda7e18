internal import CarabinerWire
internal import NIOHTTP1

/// The body of an error response: a GraphQL response with one error.
enum RefusalText {
  /// The body as JSON text.
  static func json(_ message: String, code: String) -> [UInt8] {
    JSONValue.object(["errors": list(message, code: code)]).serialized()
  }

  /// The value of `errors`.
  static func list(_ message: String, code: String) -> JSONValue {
    [["message": .string(message), "extensions": ["code": .string(code)]]]
  }

  /// The error code of a status, for errors without a code of their own.
  static func code(of status: HTTPResponseStatus) -> String {
    status.reasonPhrase.uppercased().replacing(" ", with: "_")
  }
}
