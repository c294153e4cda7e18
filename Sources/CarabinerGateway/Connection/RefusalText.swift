internal import CarabinerWire
internal import NIOHTTP1

/// What is said in place of a result: a response of GraphQL with one error.
enum RefusalText {
  /// The body.
  static func json(_ message: String, code: String) -> [UInt8] {
    JSONValue.object(["errors": list(message, code: code)]).serialized()
  }

  /// The list of errors alone.
  static func list(_ message: String, code: String) -> JSONValue {
    [["message": .string(message), "extensions": ["code": .string(code)]]]
  }

  /// The code of an error that is no more than its status.
  static func code(of status: HTTPResponseStatus) -> String {
    status.reasonPhrase.uppercased().replacing(" ", with: "_")
  }
}
