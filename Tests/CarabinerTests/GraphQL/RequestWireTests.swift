import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Requests on the wire")
struct RequestWireTests {
  private static let document = "query Hero($a: String) { hero(a: $a) { name } }"
  private static let single = "application/graphql-response+json,application/json"

  private func request(
    _ type: GraphQLOperationType = .query, endpoint: String = "http://127.0.0.1:1/graphql", document: String = document,
    variables: JSONObject = [:], headers: HTTPHeaders = [:], options: WireOptions = WireOptions()
  ) throws -> JSONRequest<DynamicOperation> {
    JSONRequest(
      operation: DynamicOperation(
        document: document, operationName: "Hero", operationType: type, variables: variables),
      endpoint: try #require(URL(string: endpoint)), additionalHeaders: headers, wireOptions: options)
  }

  private func body(_ request: URLRequest) -> String { String(decoding: request.httpBody ?? Data(), as: UTF8.self) }

  // MARK: POST

  @Test("members are sorted at every level, whatever the order they were given in", .rule("request.1"))
  func sortedBody() throws {
    var request = try request(variables: ["b": ["y": 1, "x": 2], "a": "é"])
    request.wireOverrides.extensions = ["z": true, "persistedQuery": ["version": 1, "sha256Hash": "00"]]
    let sent = try request.toURLRequest()
    #expect(
      body(sent)
        == #"{"extensions":{"persistedQuery":{"sha256Hash":"00","version":1},"z":true},"operationName":"Hero","#
        + #""query":"query Hero($a: String) { hero(a: $a) { name } }","variables":{"a":"é","b":{"x":2,"y":1}}}"#)
    #expect(sent.headers["Content-Type"] == "application/json")
  }

  @Test("subscriptions accept the parts of their own specification", .rule("request.1"))
  func subscriptionAccept() throws {
    #expect(
      try request(.subscription).toURLRequest().headers["Accept"]
        == "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json")
  }

  @Test(
    "parts are asked for only if the document defers or streams, and the later format first", .rule("request.1"),
    arguments: ["query Hero { hero { ...F @defer } }", "query Hero { heroes @stream { name } }", ""])
  func incrementalAccept(document: String) throws {
    let parts = "multipart/mixed;incrementalSpec=v0.2,multipart/mixed;deferSpec=20220824," + Self.single
    #expect(try request(document: document).toURLRequest().headers["Accept"] == parts)
    #expect(try request(.mutation, document: document).toURLRequest().headers["Accept"] == parts)
    #expect(
      try request(document: document, options: WireOptions(usesGETForQueries: true)).toURLRequest().headers["Accept"] == parts)
    #expect(try request().toURLRequest().headers["Accept"] == Self.single)
    // The document that is sent decides.
    var replaced = try request(document: document)
    replaced.wireOverrides.document = .replaced(Self.document)
    #expect(try replaced.toURLRequest().headers["Accept"] == Self.single)
    var hashed = try request(document: document)
    hashed.wireOverrides.document = .omitted
    #expect(try hashed.toURLRequest().headers["Accept"] == parts)
  }

  // MARK: GET

  @Test("a query goes by GET if the options say so, its items sorted and after those of the endpoint", .rule("request.2"))
  func get() throws {
    let sent = try request(
      endpoint: "http://127.0.0.1:1/graphql?tenant=a%20b&k#top", variables: ["b": 1, "a": "x"],
      options: WireOptions(usesGETForQueries: true, clientAwareness: ClientAwareness())
    ).toURLRequest()
    #expect(sent.httpMethod == "GET")
    #expect(sent.httpBody == nil)
    #expect(sent.isIdempotent)
    #expect(
      sent.url.absoluteString
        == "http://127.0.0.1:1/graphql?tenant=a%20b&k"
        + "&extensions=%7B%22clientLibrary%22%3A%7B%22name%22%3A%22carabiner%22%2C%22version%22%3A%221.0.0%22%7D%7D"
        + "&operationName=Hero&query=query%20Hero%28%24a%3A%20String%29%20%7B%20hero%28a%3A%20%24a%29%20%7B%20name%20%7D%20%7D"
        + "&variables=%7B%22a%22%3A%22x%22%2C%22b%22%3A1%7D")
    #expect(sent.headers["Content-Type"] == nil)
    #expect(sent.headers["Apollo-Require-Preflight"] == "true")
    #expect(sent.headers["Accept"] == Self.single)
  }

  @Test(
    "characters that are special in URLs or forms are escaped", .rule("request.2"),
    arguments: [
      ("a+b", "a%2Bb"), ("a;b", "a%3Bb"), ("a&b", "a%26b"), ("a#b", "a%23b"), ("a=b", "a%3Db"), ("a%b", "a%25b"),
      ("a b", "a%20b"), ("é", "%C3%A9"), ("🪝", "%F0%9F%AA%9D"), ("~-._", "~-._"),
    ])
  func escaping(value: String, escaped: String) throws {
    let sent = try request(variables: ["a": .string(value)], options: WireOptions(usesGETForQueries: true)).toURLRequest()
    #expect(sent.url.absoluteString.hasSuffix("&variables=%7B%22a%22%3A%22\(escaped)%22%7D"))
  }

  @Test(
    "the first item follows the endpoint's own query", .rule("request.2"),
    arguments: [("/g", "/g?"), ("/g?", "/g?"), ("/g?a=1&", "/g?a=1&"), ("/g?a", "/g?a&"), ("/g#f?x", "/g?")])
  func joining(endpoint: String, begin: String) throws {
    let sent = try request(endpoint: "http://127.0.0.1:1\(endpoint)", options: WireOptions(usesGETForQueries: true))
      .toURLRequest()
    #expect(sent.url.absoluteString.hasPrefix("http://127.0.0.1:1\(begin)operationName=Hero&query="))
  }

  @Test(
    "mutations and subscriptions never go by GET", .rule("request.2"), arguments: [GraphQLOperationType.mutation, .subscription])
  func neverGET(type: GraphQLOperationType) throws {
    var request = try request(type, options: WireOptions(usesGETForQueries: true))
    request.wireOverrides.usesGET = true
    let sent = try request.toURLRequest()
    #expect(sent.httpMethod == "POST")
    #expect(sent.headers["Content-Type"] == "application/json")
    #expect(!sent.url.absoluteString.contains("?"))
  }

  @Test("GET can be asked for by the transport, and by one request alone", .rule("request.2"))
  func getByTransportOrRequest() async throws {
    let recording = RecordingTransport(json: heroJSON)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        endpointURL: url, httpTransport: recording, wireOptions: WireOptions(usesGETForQueries: true)))
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    _ = try await client.fetch(
      query: HeroQuery(), cachePolicy: .networkOnly, configuration: RequestConfiguration(wireOptions: WireOptions()))
    #expect(recording.requests.map(\.httpMethod) == ["GET", "POST"])
  }

  // MARK: Headers and client awareness

  @Test("nothing is said about the client unless it is asked for", .rule("request.3"))
  func silent() throws {
    let sent = try request().toURLRequest()
    #expect(!sent.headers.contains { $0.name.lowercased().hasPrefix("apollographql") })
    #expect(!body(sent).contains("extensions"))
  }

  @Test("client awareness names program and library, and additional headers win in any case", .rule("request.3"))
  func clientAwareness() throws {
    let client = ClientAwareness(applicationName: "shop", applicationVersion: "2.1")
    let sent = try request(
      headers: ["ApolloGraphQL-Client-Version": "9", "CONTENT-type": "application/json; charset=utf-8"],
      options: WireOptions(clientAwareness: client)
    ).toURLRequest()
    #expect(sent.headers.values(for: "apollographql-client-name") == ["shop"])
    #expect(sent.headers.values(for: "apollographql-client-version") == ["9"])
    #expect(sent.headers.values(for: "Content-Type") == ["application/json; charset=utf-8"])
    #expect(body(sent).hasPrefix(#"{"extensions":{"clientLibrary":{"name":"carabiner","version":"1.0.0"}},"operationName""#))
  }

  @Test("a client that does not name itself has the name of the program, and sends no field that is nil", .rule("request.3"))
  func defaultClient() throws {
    func fields(_ client: ClientAwareness) throws -> [String] {
      let headers = try request(options: WireOptions(clientAwareness: client)).toURLRequest().headers
      return headers.values(for: "apollographql-client-name") + headers.values(for: "apollographql-client-version")
    }
    #expect(try fields(ClientAwareness()) == [ClientAwareness.defaultApplicationName, "(unknown)"])
    #expect(ClientAwareness.defaultApplicationName.hasSuffix("-carabiner"))
    #expect(try fields(ClientAwareness(applicationName: "shop", applicationVersion: nil)) == ["shop"])
    #expect(try fields(ClientAwareness(applicationName: nil, applicationVersion: nil)).isEmpty)
  }

  @Test("an interceptor's own clientLibrary stays, and the library can be left out", .rule("request.3"))
  func libraryIsOptional() throws {
    var request = try request(options: WireOptions(clientAwareness: ClientAwareness()))
    request.wireOverrides.extensions["clientLibrary"] = ["name": "mine"]
    #expect(body(try request.toURLRequest()).hasPrefix(#"{"extensions":{"clientLibrary":{"name":"mine"}},"#))
    let silent = try self.request(options: WireOptions(clientAwareness: ClientAwareness(includesLibrary: false)))
    #expect(!body(try silent.toURLRequest()).contains("clientLibrary"))
  }
}
