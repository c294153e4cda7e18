internal import CarabinerWire

/// What a GraphQL request says, in a body or in a URL.
struct GraphQLParameters: Sendable {
  /// How deep what is sent may be nested.
  private static let limits = JSONLimits(maximumDepth: 64)

  /// The text of the document; nil if only its hash was sent.
  let query: String?
  let operationName: String?
  let variables: JSONObject
  /// The hash of the document, in lower-case digits; nil if the client does not use persisted queries.
  let hash: String?
  /// Whether the client asks for something to be read and nothing else.
  let isGET: Bool

  /// Reads a body.
  ///
  /// - Throws: A ``Refusal`` with the status 400 or 415.
  init(body: [UInt8], contentType: String?) throws(Refusal) {
    let media = contentType.flatMap { MediaRange($0[...]) }
    guard media?.type == "application/json", (media?.parameters["charset"] ?? "utf-8").lowercased() == "utf-8" else {
      throw Refusal(415, "send the request as JSON, Content-Type: application/json", code: "UNSUPPORTED_MEDIA_TYPE")
    }
    let value = try Self.json(body, "the body")
    guard let object = value.object else {
      throw Refusal(400, "the body is a JSON \(value.kind), and one object with the member query is needed")
    }
    try self.init(object, isGET: false)
  }

  /// Reads the query of a URL.
  ///
  /// - Throws: A ``Refusal`` with the status 400.
  init(urlQuery: Substring) throws(Refusal) {
    guard let items = FormFields(Array(urlQuery.utf8)) else {
      throw Refusal(400, "the URL's query is malformed, or has an item twice")
    }
    var object = JSONObject()
    for name in ["query", "operationName"] { object[name] = items[name].map { .string($0) } }
    for name in ["variables", "extensions"] {
      if let text = items[name] { object[name] = try Self.json(Array(text.utf8), name) }
    }
    try self.init(object, isGET: true)
  }

  private init(_ object: JSONObject, isGET: Bool) throws(Refusal) {
    self.isGET = isGET
    operationName = try Self.member("operationName", of: object, "a string", \.string)
    variables = try Self.member("variables", of: object, "an object", \.object) ?? [:]
    query = try Self.member("query", of: object, "a string", \.string)
    let extensions = try Self.member("extensions", of: object, "an object", \.object) ?? [:]
    hash = try Self.member("persistedQuery", of: extensions, "an object", \.object).map { persisted throws(Refusal) in
      guard persisted["version"]?.int == 1, let hash = persisted["sha256Hash"]?.string else {
        throw Refusal(400, "persistedQuery needs version 1 and sha256Hash, a string")
      }
      return hash
    }
    guard query != nil || hash != nil else { throw Refusal(400, "the request has no query") }
  }

  private static func json(_ bytes: [UInt8], _ what: String) throws(Refusal) -> JSONValue {
    do {
      return try JSONValue(parsing: bytes, limits: limits)
    } catch {
      throw Refusal(400, "\(what) is not JSON: \(error)")
    }
  }

  private static func member<Value>(
    _ name: String, of object: JSONObject, _ kind: String, _ value: (JSONValue) -> Value?
  ) throws(Refusal) -> Value? {
    guard let member = object[name], !member.isNull else { return nil }
    guard let result = value(member) else { throw Refusal(400, "\(name) is a JSON \(member.kind), and must be \(kind)") }
    return result
  }
}
