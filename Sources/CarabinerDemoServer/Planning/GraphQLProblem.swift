internal import CarabinerWire

/// An entry of a response's `errors`.
struct GraphQLProblem: Error, Sendable, Hashable {
  let message: String
  var locations: [GraphQLPlaces.Place] = []
  /// Where in the result it happened; nil for a problem of the request.
  var path: [JSONValue]?
  /// What `extensions.code` says.
  var code: String

  /// A request may have names of any length, and its answer need not repeat them.
  private static let maximumMessage = 500

  /// The entry as it is sent.
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

  /// A whole response that says nothing but these.
  static func response(_ problems: [GraphQLProblem]) -> JSONValue { ["errors": .array(problems.map(\.json))] }
}

/// The request cannot be run; all that is wrong with it.
struct RequestProblems: Error {
  let problems: [GraphQLProblem]
}
