/// The parameters of a GraphQL request, from a body or a URL.
package struct GraphQLParameters: Sendable {
  /// The maximal nesting depth of the JSON.
  private static let limits = JSONLimits(maximumDepth: 64)

  /// The text of the document; nil if only its hash was sent.
  package let query: String?
  package let operationName: String?
  package let variables: JSONObject
  /// The hash of the document, in lower-case digits; nil if the client does not use persisted queries.
  package let hash: String?
  /// The id of a document that the server knows (`documentId` of GraphQL over HTTP); nil if the client sent none.
  package let documentID: String?
  /// The extensions without `persistedQuery`, because the hash concerns only the client and this server.
  package let extensions: JSONObject
  /// Whether the request uses GET, which allows only queries.
  package let isGET: Bool

  /// Parses a body.
  ///
  /// - Throws: A ``RequestRefusal`` with the status 400 or 415.
  package init(body: [UInt8], contentType: String?) throws(RequestRefusal) {
    try Self.requireJSON(contentType)
    // A tree of the whole body would take several times as long.
    let tape: JSONTape
    do {
      tape = try JSONTape(scanning: body.span, limits: Self.limits)
    } catch {
      throw .notJSON("the body", error)
    }
    guard tape.isObject else {
      let value = tape.value(at: 0, in: body.span)
      throw RequestRefusal(400, "the body is a JSON \(value.kind), not an object with the member query")
    }
    try self.init(isGET: false) { name in tape.member(name, in: body.span).map { tape.value(at: $0, in: body.span) } }
  }

  /// Parses a body with a list of requests; nil if it is not a list.
  ///
  /// - Parameter maximum: The maximum length of the list; with 1, lists are refused.
  /// - Returns: The parameters of each entry, or its refusal.
  /// - Throws: A ``RequestRefusal`` of the whole list with the status 400 or 415.
  package static func batch(
    body: [UInt8], contentType: String?, maximum: Int
  ) throws(RequestRefusal) -> [Result<GraphQLParameters, RequestRefusal>]? {
    guard body.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") else { return nil }
    try requireJSON(contentType)
    guard maximum > 1 else {
      throw RequestRefusal(400, "lists of requests are not supported; send them one by one", code: "BATCHING_NOT_SUPPORTED")
    }
    guard case .array(let entries) = try json(body.span, "the body"), (1...maximum).contains(entries.count) else {
      throw RequestRefusal(400, "a list may hold 1 to \(maximum) requests", code: "BATCH_LIMIT_EXCEEDED")
    }
    return entries.map { entry in
      Result { () throws(RequestRefusal) in
        guard let object = entry.object else {
          throw RequestRefusal(400, "an entry of the list is a JSON \(entry.kind), not an object")
        }
        return try GraphQLParameters(isGET: false) { object[$0] }
      }
    }
  }

  private static func requireJSON(_ contentType: String?) throws(RequestRefusal) {
    if contentType == "application/json" { return }
    let media = contentType.flatMap { MediaRange($0[...]) }
    guard media?.type == "application/json", (media?.parameters["charset"] ?? "utf-8").lowercased() == "utf-8" else {
      throw RequestRefusal(415, "send the request as JSON, Content-Type: application/json", code: "UNSUPPORTED_MEDIA_TYPE")
    }
  }

  /// Parses the query of a URL.
  ///
  /// - Throws: A ``RequestRefusal`` with the status 400.
  package init(urlQuery: Substring) throws(RequestRefusal) {
    guard let items = FormFields(Array(urlQuery.utf8)) else {
      throw RequestRefusal(400, "the URL's query is malformed, or has an item twice")
    }
    var object = JSONObject()
    for name in ["query", "operationName", "documentId"] { object[name] = items[name].map { .string($0) } }
    for name in ["variables", "extensions"] {
      if let text = items[name] { object[name] = try Self.json(text.utf8Span.span, name) }
    }
    try self.init(isGET: true) { object[$0] }
  }

  /// - Parameter value: Returns the value of a member; nil if there is none.
  private init(
    isGET: Bool, _ value: (_ name: String) throws(RequestRefusal) -> JSONValue?
  ) throws(RequestRefusal) {
    self.isGET = isGET
    operationName = try Self.member("operationName", value("operationName"), "a string", \.string)
    variables = try Self.member("variables", value("variables"), "an object", \.object) ?? JSONObject()
    query = try Self.member("query", value("query"), "a string", \.string)
    documentID = try Self.member("documentId", value("documentId"), "a string", \.string)
    var extensions = try Self.member("extensions", value("extensions"), "an object", \.object) ?? JSONObject()
    let persisted = try Self.member("persistedQuery", extensions["persistedQuery"], "an object", \.object)
    hash = try persisted.map { persisted throws(RequestRefusal) in
      guard persisted["version"]?.int == 1, let hash = persisted["sha256Hash"]?.string else {
        throw RequestRefusal(400, "persistedQuery needs version 1 and sha256Hash, a string")
      }
      return hash
    }
    if hash != nil { extensions["persistedQuery"] = nil }
    self.extensions = extensions
    guard query != nil || hash != nil || documentID != nil else { throw RequestRefusal(400, "the request has no query") }
  }

  private static func json(_ bytes: Span<UInt8>, _ what: String) throws(RequestRefusal) -> JSONValue {
    do {
      return try JSONValue(parsing: bytes, limits: limits)
    } catch {
      throw .notJSON(what, error)
    }
  }

  private static func member<Value>(
    _ name: String, _ member: JSONValue?, _ kind: String, _ value: (JSONValue) -> Value?
  ) throws(RequestRefusal) -> Value? {
    guard let member, !member.isNull else { return nil }
    guard let result = value(member) else { throw RequestRefusal(400, "\(name) is a JSON \(member.kind), and must be \(kind)") }
    return result
  }
}

extension RequestRefusal {
  fileprivate static func notJSON(_ what: String, _ error: JSONError) -> RequestRefusal {
    RequestRefusal(400, "\(what) is not JSON: \(error)")
  }
}
