internal import CarabinerWire

/// What the body of a GraphQL request says.
struct GraphQLRequestBody: Sendable {
  let query: String
  let operationName: String?
  let variables: JSONObject

  /// Reads a body.
  ///
  /// - Throws: A ``Refusal`` with the status 400 or 415.
  init(_ body: [UInt8], contentType: String?) throws(Refusal) {
    let media = contentType.flatMap { MediaRange($0[...]) }
    guard media?.type == "application/json", (media?.parameters["charset"] ?? "utf-8").lowercased() == "utf-8" else {
      throw Refusal(415, "send the request as JSON, Content-Type: application/json", code: "UNSUPPORTED_MEDIA_TYPE")
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body, limits: JSONLimits(maximumDepth: 64))
    } catch {
      throw Refusal(400, "the body is not JSON: \(error)")
    }
    guard let object = value.object else {
      throw Refusal(400, "the body is a JSON \(value.kind), and one object with the member query is needed")
    }
    operationName = try Self.member("operationName", of: object, "a string", \.string)
    variables = try Self.member("variables", of: object, "an object", \.object) ?? [:]
    let extensions = try Self.member("extensions", of: object, "an object", \.object)
    guard let query = try Self.member("query", of: object, "a string", \.string) else {
      if extensions?.contains("persistedQuery") == true {
        throw Refusal(200, "PersistedQueryNotSupported", code: "PERSISTED_QUERY_NOT_SUPPORTED")
      }
      throw Refusal(400, "the body has no query")
    }
    self.query = query
  }

  private static func member<Value>(
    _ name: String, of object: JSONObject, _ kind: String, _ value: (JSONValue) -> Value?
  ) throws(Refusal) -> Value? {
    guard let member = object[name], !member.isNull else { return nil }
    guard let result = value(member) else { throw Refusal(400, "\(name) is a JSON \(member.kind), and must be \(kind)") }
    return result
  }
}

/// A request is answered with a status and one error.
struct Refusal: Error, Sendable, Hashable {
  let status: Int
  let message: String
  let code: String
  var headers: [String: String] = [:]

  init(_ status: Int, _ message: String, code: String = "BAD_REQUEST", headers: [String: String] = [:]) {
    self.status = status
    self.message = message
    self.code = code
    self.headers = headers
  }
}
