import CarabinerDigest
import CarabinerWire
import Foundation
import TestTools
import Testing

@testable import CarabinerDemoServer

/// Queries by GET and persisted documents, without a network (the server's side of `request.2` and `request.4`).
@Suite("Demo server: GET and persisted queries")
struct PersistedDocumentsTests {
  private static let query = "query Q { books { title } }"
  private static let hash = sha256(query)

  private static func sha256(_ text: String) -> String {
    Digest.sha256(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
  }

  private static func persisted(_ hash: String, version: String = "1") -> String {
    #"{"persistedQuery":{"version":\#(version),"sha256Hash":"\#(hash)"}}"#
  }

  private struct Answer {
    let status: Int
    let headers: [String: String]
    let body: JSONValue

    var code: String? { body["errors"]?[0]?["extensions"]?["code"]?.string }
  }

  private func site(keepsDocuments: Bool = true) -> DemoSite {
    var settings = DemoSite.Settings()
    settings.keepsDocuments = keepsDocuments
    return DemoSite(settings: settings)
  }

  private func post(_ site: DemoSite, _ body: String) async throws -> Answer {
    try await ask(
      site, DemoRequest(method: "POST", target: "/graphql", headers: ["content-type": "application/json"], body: Array(body.utf8))
    )
  }

  private func get(
    _ site: DemoSite, _ items: [String: String], headers: [String: String] = ["apollo-require-preflight": "true"]
  ) async throws -> Answer {
    let items = items.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return try await ask(
      site, DemoRequest(method: "GET", target: "/graphql?\(items.joined(separator: "&"))", headers: headers, body: []))
  }

  private func ask(_ site: DemoSite, _ request: DemoRequest) async throws -> Answer {
    let reply = await site.reply(to: request)
    guard case .whole(let bytes) = reply.body else { throw CancellationError() }
    return Answer(status: reply.status, headers: reply.headers, body: try JSONValue(parsing: bytes))
  }

  @Test("a query is answered by GET, with its variables and its operation's name", .rule("request.2"))
  func get() async throws {
    let document = "query A { books { id } } query B($id: ID!) { book(id: $id) { title } }"
    let answer = try await get(site(), ["query": document, "operationName": "B", "variables": #"{"id":"1"}"#])
    #expect(answer.status == 200)
    #expect(answer.body["data"]?["book"]?["title"]?.string?.isEmpty == false)
  }

  @Test("mutations, pages of other sites and malformed queries are refused", .rule("request.2"))
  func refusedGET() async throws {
    let mutation = try await get(site(), ["query": "mutation { __typename }"])
    #expect(mutation.status == 405)
    #expect(mutation.headers["Allow"] == "POST")
    #expect(try await get(site(), ["query": Self.query], headers: [:]).status == 400)
    #expect(try await get(site(), [:]).status == 400)
    #expect(try await get(site(), ["query": Self.query, "variables": "["]).status == 400)
    #expect(try await get(site(), ["query": Self.query, "extensions": "1"]).status == 400)
    let twice = DemoRequest(
      method: "GET", target: "/graphql?query=a&query=b", headers: ["apollo-require-preflight": "true"], body: [])
    #expect(try await ask(site(), twice).status == 400)
  }

  @Test("a hash is found only after its document was sent, by GET and by POST", .rule("request.4"))
  func lifeOfAHash() async throws {
    let site = site()
    let hashOnly = #"{"extensions":\#(Self.persisted(Self.hash))}"#
    for answer in [
      try await post(site, hashOnly), try await get(site, ["extensions": Self.persisted(Self.hash)]),
    ] {
      #expect(answer.status == 200)
      #expect(answer.code == "PERSISTED_QUERY_NOT_FOUND")
      #expect(answer.body["errors"]?[0]?["message"]?.string == "PersistedQueryNotFound")
      #expect(answer.headers["Cache-Control"] == "private, no-cache, must-revalidate")
    }
    let both = #"{"query":"\#(Self.query)","extensions":\#(Self.persisted(Self.hash))}"#
    let first = try await post(site, both).body
    #expect(first["data"]?["books"]?.array?.isEmpty == false)
    #expect(try await post(site, hashOnly).body == first)
    #expect(try await get(site, ["extensions": Self.persisted(Self.hash)]).body == first)
  }

  @Test("a hash that does not match the document is refused, and nothing is stored", .rule("request.4"))
  func wrongHash() async throws {
    let site = site()
    let other = Self.sha256("other")
    let wrong = try await post(site, #"{"query":"\#(Self.query)","extensions":\#(Self.persisted(other))}"#)
    #expect(wrong.status == 400)
    #expect(try await post(site, #"{"extensions":\#(Self.persisted(other))}"#).code == "PERSISTED_QUERY_NOT_FOUND")
    #expect(try await post(site, #"{"extensions":\#(Self.persisted(Self.hash, version: "2"))}"#).status == 400)
  }

  @Test("a server that stores nothing reports it, for the hash alone and with the document", .rule("request.4"))
  func notSupported() async throws {
    let site = site(keepsDocuments: false)
    for body in [
      #"{"extensions":\#(Self.persisted(Self.hash))}"#, #"{"query":"\#(Self.query)","extensions":\#(Self.persisted(Self.hash))}"#,
    ] {
      #expect(try await post(site, body).code == "PERSISTED_QUERY_NOT_SUPPORTED")
    }
    #expect(try await post(site, #"{"query":"\#(Self.query)"}"#).code == nil)
  }

  @Test("the oldest documents are removed above the limit")
  func room() throws {
    let documents = PersistedDocuments(maximumBytes: 10)
    func ask(_ query: String?, _ hash: String) throws -> String {
      let query = query.map { #""query":"\#($0)","# } ?? ""
      let body = "{\(query)\"extensions\":\(Self.persisted(hash))}"
      return try documents.document(for: GraphQLParameters(body: Array(body.utf8), contentType: "application/json"))
    }
    for query in ["{aaa}", "{bbb}", "{ccc}"] { #expect(try ask(query, Self.sha256(query)) == query) }
    #expect(throws: RequestRefusal.self) { try ask(nil, Self.sha256("{aaa}")) }
    #expect(try ask(nil, Self.sha256("{bbb}")) == "{bbb}")
    #expect(try ask(nil, Self.sha256("{ccc}")) == "{ccc}")
  }
}
