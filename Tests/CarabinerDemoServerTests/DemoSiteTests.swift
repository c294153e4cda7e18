import CarabinerWire
import Foundation
import Testing

@testable import CarabinerDemoServer

/// The status and headers of every kind of request, without a network.
@Suite("Demo server: GraphQL over HTTP")
struct DemoSiteTests {
  private struct Answer {
    let status: Int
    let headers: [String: String]
    let text: String

    var type: String? { headers["Content-Type"] }
    func code() throws -> String? { try JSONValue(parsing: text)["errors"]?[0]?["extensions"]?["code"]?.string }
  }

  private func ask(
    _ site: DemoSite, _ body: String, method: String = "POST",
    target: String = "/graphql",
    headers: [String: String] = [:]
  ) async -> Answer {
    let all = ["content-type": "application/json"].merging(headers) { $1 }
    let reply = await site.reply(to: DemoRequest(method: method, target: target, headers: all, body: Array(body.utf8)))
    var bytes: [UInt8] = []
    switch reply.body {
    case .whole(let whole): bytes = whole
    case .streamed(let parts): for await piece in parts { bytes += piece }
    }
    return Answer(status: reply.status, headers: reply.headers, text: String(decoding: bytes, as: UTF8.self))
  }

  /// Sends a request to a new site without requirements on clients.
  private func ask(_ body: String, method: String = "POST", target: String = "/graphql", headers: [String: String] = [:]) async
    -> Answer
  {
    await ask(DemoSite(settings: DemoSite.Settings()), body, method: method, target: target, headers: headers)
  }

  @Test(
    "a request that is not a GraphQL request is refused with a status and an error",
    arguments: [
      ("[1", 400), ("[]", 400), ("1", 400), ("{}", 400), (#"{"query":1}"#, 400), (#"{"query":"{slow}","variables":[]}"#, 400),
      (#"{"query":"{slow}","operationName":1}"#, 400), (#"{"query":"{slow}","extensions":true}"#, 400), ("", 400),
      ("\u{FEFF}{}", 400),
    ])
  func malformed(body: String, status: Int) async throws {
    let answer = await ask(body)
    #expect(answer.status == status)
    #expect(try answer.code() == "BAD_REQUEST")
  }

  @Test("a body that is nested too deeply is refused")
  func nested() async {
    let deep = String(repeating: "[", count: 100_000)
    #expect(await ask(#"{"variables":"# + deep).status == 400)
  }

  @Test(
    "only JSON by POST, and GET, are served",
    arguments: [
      ("DELETE", "/graphql", "application/json", 405), ("PUT", "/graphql?x", "application/json", 405),
      ("POST", "/graphql", "text/plain", 415), ("POST", "/graphql", "application/json; charset=latin1", 415),
      ("POST", "/graphql", "", 415), ("POST", "/nowhere", "application/json", 404), ("GET", "/token", "", 405),
      ("POST", "/schema", "", 405),
    ])
  func wrongDoor(method: String, target: String, type: String, status: Int) async throws {
    let answer = await ask("{}", method: method, target: target, headers: ["content-type": type])
    #expect(answer.status == status)
    #expect((answer.headers["Allow"] != nil) == (status == 405))
    #expect(try answer.code() != nil)
  }

  @Test("an invalid document is answered with 400 for clients that accept GraphQL responses, and with 200 for older clients")
  func requestErrors() async throws {
    for query in ["{ nothing }", "{", "{ book { id } }"] {
      let body = JSONValue.object(["query": .string(query)]).description
      #expect(await ask(body).status == 200)
      let answer = await ask(body, headers: ["accept": "application/graphql-response+json"])
      #expect(answer.status == 400)
      #expect(answer.type == "application/graphql-response+json; charset=utf-8")
      #expect(try JSONValue(parsing: answer.text)["data"] == nil)
    }
    #expect(await ask(#"{"query":"{ failing }"}"#, headers: ["accept": "application/graphql-response+json"]).status == 200)
  }

  @Test("a client that accepts no format of the server gets 406, and nothing is changed")
  func notAcceptable() async throws {
    let site = DemoSite(settings: DemoSite.Settings())
    let mutation = #"{"query":"mutation { renameBook(id: 1, title: \"X\") { id } }"}"#
    #expect(await ask(site, mutation, headers: ["accept": "text/html"]).status == 406)
    #expect(await ask(site, #"{"query":"{ book(id: 1) { title } }"}"#).text.contains("Left Hand"))
    let subscription = #"{"query":"subscription { countdown }"}"#
    #expect(await ask(site, subscription).status == 406)
    let wrong = #"{"query":"subscription { countdown(from: -1) }"}"#
    let answer = await ask(
      site, wrong, headers: ["accept": "multipart/mixed;subscriptionSpec=1.0,application/graphql-response+json"])
    #expect(answer.status == 400)
    #expect(try answer.code() == "BAD_USER_INPUT")
  }

  @Test("without its Accept header @defer has no effect, and a persisted query is not known")
  func plain() async throws {
    let answer = await ask(#"{"query":"{ ... @defer { __typename } }"}"#)
    #expect(answer.text == #"{"data":{"__typename":"Query"}}"#)
    let persisted = await ask(#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#)
    #expect(persisted.status == 200)
    #expect(try persisted.code() == "PERSISTED_QUERY_NOT_FOUND")
  }

  @Test("a subscription that fails ends with its error")
  func brokenSubscription() async throws {
    let answer = await ask(
      #"{"query":"subscription { n: countdown(from: 2, everyMilliseconds: 1, failAt: 1) }"}"#,
      headers: ["accept": "multipart/mixed;subscriptionSpec=1.0"])
    let parts = answer.text.components(separatedBy: "\r\n--carabiner")
    try #require(parts.count == 3)
    #expect(parts[0].hasSuffix(#"{"payload":{"data":{"n":2}}}"#))
    #expect(parts[1].contains(#"{"payload":null,"errors":[{"message":"the countdown broke off","#))
    #expect(parts[2] == "--\r\n")
  }

  @Test(
    "/token follows OAuth",
    arguments: [
      ("grant_type=client_credentials&client_id=a&client_secret=right", 200, nil),
      ("grant_type=client_credentials&client_id=a&client_secret=wrong", 401, "invalid_client"),
      ("grant_type=client_credentials&client_id=a", 401, "invalid_client"),
      ("grant_type=client_credentials", 401, "invalid_client"), ("grant_type=password", 400, "unsupported_grant_type"),
      ("", 400, "invalid_request"), ("%", 400, "invalid_request"),
    ] as [(String, Int, String?)])
  func token(form: String, status: Int, error: String?) async throws {
    var settings = DemoSite.Settings()
    settings.clientSecret = "right"
    settings.tokens.lifetime = 60
    let answer = await ask(
      DemoSite(settings: settings), form, target: "/token", headers: ["content-type": "application/x-www-form-urlencoded"])
    #expect(answer.status == status)
    #expect(answer.headers["Cache-Control"] == "no-store")
    let value = try JSONValue(parsing: answer.text)
    #expect(value["error"]?.string == error)
    #expect((value["access_token"]?.string == nil) == (status != 200))
    if status == 200 { #expect(value["expires_in"]?.int == 60) }
  }

  @Test("if tokens are required, only a valid one is accepted, and requests are counted")
  func requiredToken() async throws {
    var settings = DemoSite.Settings()
    settings.requiresToken = true
    settings.tokens.uses = 1
    let site = DemoSite(settings: settings)
    let query = #"{"query":"{ secret }"}"#
    let refused = await ask(site, query)
    #expect(refused.status == 401)
    #expect(refused.headers["WWW-Authenticate"] == "Bearer")
    #expect(try refused.code() == "UNAUTHENTICATED")
    let form = "grant_type=client_credentials&client_id=a&client_secret=b"
    let type = ["content-type": "application/x-www-form-urlencoded"]
    let token = try JSONValue(parsing: await ask(site, form, target: "/token", headers: type).text)["access_token"]?.string ?? ""
    #expect(await ask(site, query, headers: ["authorization": "Bearer \(token)"]).text.contains("librarian"))
    #expect(await ask(site, query, headers: ["authorization": "Bearer \(token)"]).status == 401)
    let counters = await ask(site, "", method: "GET", target: "/counters").text
    #expect(counters == #"{"graphqlRequests":3,"tokensIssued":1,"refusedForToken":2,"refusedForSignature":0}"#)
  }

  @Test("with a key every single response is signed, and an unsigned request is refused")
  func signed() async throws {
    var settings = DemoSite.Settings()
    let signature = MessageSignature(key: "k")
    settings.signature = signature
    let answer = await ask(DemoSite(settings: settings), #"{"query":"{ slow }"}"#)
    #expect(answer.status == 403)
    #expect(answer.headers["X-Signature"] == signature.signature(ofStatus: 403, body: Array(answer.text.utf8)))
  }

  @Test("/schema shows the schema of the server")
  func schema() async {
    let text = await ask("", method: "GET", target: "/schema").text
    for line in [
      "type Book implements Node {", "  books(filter: BookFilter, first: Int! = 100): [Book!]!",
      "union SearchResult = Book | Author",
      "enum Genre {", "  countdown(from: Int! = 3, everyMilliseconds: Int! = 100, failAt: Int): Int!",
    ] { #expect(text.contains(line + "\n")) }
  }
}
