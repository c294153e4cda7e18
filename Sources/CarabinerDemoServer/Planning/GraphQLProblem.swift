internal import CarabinerWire

/// An entry of a response's `errors`.
struct GraphQLProblem: Error, Sendable, Hashable {
  let message: String
  var locations: [GraphQLPlaces.Place] = []
  /// The place in the result; nil for an error of the request.
  var path: [JSONValue]?
  /// The value of `extensions.code`.
  var code: String

  /// The longest message. Names in a request can have any length, and the response need not repeat them.
  private static let maximumMessage = 500

  /// The entry in the response.
  var json: JSONValue {
    let text = message.count <= Self.maximumMessage ? message : message.prefix(Self.maximumMessage - 1) + "…"
    var entry: JSONObject = ["message": .string(text)]
    if !locations.isEmpty {
      entry["locations"] = .array(
        locations.map { ["line": .number(JSONNumber($0.line)), "column": .number(JSONNumber($0.column))] })
    }
    if let path { entry["path"] = .array(path) }
    entry["extensions"] = ["code": .string(code)]
    return .object(entry)
  }

  /// A response that contains only errors.
  static func response(_ problems: [GraphQLProblem]) -> JSONValue { ["errors": .array(problems.map(\.json))] }
}

/// The request cannot be executed. Contains all its problems.
struct RequestProblems: Error {
  let problems: [GraphQLProblem]
}
