internal import CarabinerSchema
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// All responses of the demo server, independent of the network.
final class DemoSite: Sendable {
  /// Requirements on clients, and limits for requests.
  struct Settings: Sendable {
    var requiresToken = false
    var tokens = TokenMint.Terms()
    /// The secret that clients of /token must send; nil to accept any.
    var clientSecret: String?
    /// Verifies the signatures of requests and signs responses; nil for no signatures.
    var signature: MessageSignature?
    var limits = RequestLimits()
    /// Whether documents are stored under their hashes.
    var keepsDocuments = true
    var heartbeat = Duration.seconds(5)
  }

  private struct Counters {
    var requests = 0
    var unauthorized = 0
    var unsigned = 0
  }

  let settings: Settings
  private let tokens: TokenMint
  private let library = Library()
  private let documents = PersistedDocuments()
  private let counters = Mutex(Counters())
  private let pause: @Sendable (Duration) async throws -> Void

  /// - Parameter pause: Waits for a duration; throws when the server shuts down.
  init(
    settings: Settings, pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.settings = settings
    self.pause = pause
    tokens = TokenMint(terms: settings.tokens)
  }

  /// The response to a request.
  func reply(to request: DemoRequest) async -> DemoReply {
    do {
      return signed(try await route(request))
    } catch {
      return reply(to: error)
    }
  }

  /// The response to a request that is refused.
  func reply(to refusal: RequestRefusal) -> DemoReply {
    let body = GraphQLProblem.response([GraphQLProblem(message: refusal.message, code: refusal.code)]).serialized()
    return signed(DemoReply(refusal.status, ResponseFormat.json.contentType, .whole(body), headers: refusal.headers))
  }

  private func route(_ request: DemoRequest) async throws(RequestRefusal) -> DemoReply {
    switch (request.path, request.method) {
    case ("/graphql", "POST"), ("/graphql", "GET"): return try await graphQL(request)
    case ("/token", "POST"): return token(request)
    case ("/schema", "GET"): return DemoReply(200, "text/plain; charset=utf-8", .whole(Array(Schema.library.text().utf8)))
    case ("/counters", "GET"): return DemoReply(200, ResponseFormat.json.contentType, .whole(countersText()))
    case ("/graphql", _):
      throw RequestRefusal(
        405, "only POST and GET are served at /graphql", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "GET, POST"])
    case ("/token", _):
      throw RequestRefusal(405, "only POST is served at \(request.path)", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "POST"])
    case ("/schema", _), ("/counters", _):
      throw RequestRefusal(405, "only GET is served at \(request.path)", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "GET"])
    default:
      throw RequestRefusal(404, "there is POST and GET /graphql, POST /token, GET /schema and GET /counters", code: "NOT_FOUND")
    }
  }

  // MARK: GraphQL

  private func graphQL(_ request: DemoRequest) async throws(RequestRefusal) -> DemoReply {
    counters.withLock { $0.requests += 1 }
    try verifySignature(of: request)
    let isAuthenticated = tokens.accept(authorization: request.headers["authorization"])
    guard isAuthenticated || !settings.requiresToken else {
      counters.withLock { $0.unauthorized += 1 }
      throw RequestRefusal(
        401, "no valid token; get one with POST /token", code: "UNAUTHENTICATED", headers: ["WWW-Authenticate": "Bearer"])
    }
    guard let acceptance = Acceptance(accept: request.headers["accept"]) else {
      throw RequestRefusal(
        406, "there is application/json, application/graphql-response+json and application/cbor", code: "NOT_ACCEPTABLE")
    }
    let parameters = try parameters(of: request)
    let document = try document(for: parameters)
    let exchange = GraphQLExchange(
      library: library, acceptance: acceptance, settings: settings,
      context: RequestContext(isAuthenticated: isAuthenticated, headers: request.headers, pause: pause))
    return try await exchange.reply(to: document, with: parameters)
  }

  private func parameters(of request: DemoRequest) throws(RequestRefusal) -> GraphQLParameters {
    guard request.method == "GET" else {
      return try GraphQLParameters(body: request.body, contentType: request.headers["content-type"])
    }
    // Pages of other sites can make a browser send a GET, but a custom header needs a preflight, which this server does not answer.
    guard request.headers["apollo-require-preflight"] != nil else {
      throw RequestRefusal(400, "a GET needs the header Apollo-Require-Preflight, which shows that no other site's page made it")
    }
    return try GraphQLParameters(urlQuery: request.target.dropFirst(request.path.count + 1))
  }

  private func document(for parameters: GraphQLParameters) throws(RequestRefusal) -> String {
    guard !settings.keepsDocuments else { return try documents.document(for: parameters) }
    guard let query = parameters.query, parameters.hash == nil else {
      throw RequestRefusal(
        200, "PersistedQueryNotSupported", code: "PERSISTED_QUERY_NOT_SUPPORTED", headers: PersistedDocuments.uncached)
    }
    return query
  }

  private func verifySignature(of request: DemoRequest) throws(RequestRefusal) {
    guard let signature = settings.signature else { return }
    do {
      try signature.verify(
        method: request.method, target: request.target, timestamp: request.headers["x-timestamp"],
        signature: request.headers["x-signature"], body: request.body, now: Int64(Date().timeIntervalSince1970))
    } catch {
      counters.withLock { $0.unsigned += 1 }
      // The status is not 401, because another token would not help.
      throw RequestRefusal(403, error.message, code: "FORBIDDEN")
    }
  }

  /// Adds the signature. Streamed bodies are not signed, because the header is sent before the body is known.
  private func signed(_ reply: DemoReply) -> DemoReply {
    guard let signature = settings.signature, case .whole(let body) = reply.body else { return reply }
    var reply = reply
    reply.headers["X-Signature"] = signature.signature(ofStatus: reply.status, body: body)
    return reply
  }

  // MARK: Tokens

  private func token(_ request: DemoRequest) -> DemoReply {
    func answer(_ status: Int, _ value: JSONValue) -> DemoReply {
      DemoReply(status, ResponseFormat.json.contentType, .whole(value.serialized()), headers: ["Cache-Control": "no-store"])
    }
    func refuse(_ status: Int, _ error: String, _ description: String) -> DemoReply {
      answer(status, ["error": .string(error), "error_description": .string(description)])
    }
    let media = request.headers["content-type"].flatMap { MediaRange($0[...]) }
    guard media?.type == "application/x-www-form-urlencoded", let form = FormFields(request.body) else {
      return refuse(400, "invalid_request", "the body must be a form, application/x-www-form-urlencoded")
    }
    switch form["grant_type"] {
    case "client_credentials": break
    case nil: return refuse(400, "invalid_request", "grant_type is missing")
    default: return refuse(400, "unsupported_grant_type", "only client_credentials is served")
    }
    guard form["client_id"] != nil, let secret = form["client_secret"], secret == settings.clientSecret ?? secret else {
      return refuse(401, "invalid_client", "client_id is missing, or client_secret is wrong")
    }
    let lifetime = JSONNumber(tokens.terms.lifetime).map(JSONValue.number) ?? .null
    return answer(200, ["access_token": .string(tokens.issue()), "token_type": "Bearer", "expires_in": lifetime])
  }

  private func countersText() -> [UInt8] {
    let counters = counters.withLock { $0 }
    let value: JSONValue = [
      "graphqlRequests": .number(JSONNumber(counters.requests)), "tokensIssued": .number(JSONNumber(tokens.issued)),
      "refusedForToken": .number(JSONNumber(counters.unauthorized)),
      "refusedForSignature": .number(JSONNumber(counters.unsigned)),
    ]
    return value.serialized()
  }
}
