import Carabiner
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@Suite("Automatic persisted queries")
struct PersistedQueryTests {
  private struct Rename: GraphQLMutation {
    typealias Data = JSONValue

    var operationName: String? { "Rename" }
    var document: String { "mutation Rename { rename }" }
  }

  private static let notFound = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
  private static let notFoundByCode = #"{"errors":[{"message":"?","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}]}"#
  private static let notSupported = #"{"errors":[{"message":"PersistedQueryNotSupported"}]}"#
  private static let notSupportedByCode =
    #"{"data":null,"errors":[{"message":"?","extensions":{"code":"PERSISTED_QUERY_NOT_SUPPORTED"}}]}"#

  /// The kind of a request: its method, and whether it contains the hash and the document.
  private static func shape(_ request: URLRequest) -> String {
    let text = request.httpBody.map { String(decoding: $0, as: UTF8.self) } ?? request.url.absoluteString
    var shape = [request.httpMethod]
    if text.contains("sha256Hash") { shape.append("hash") }
    if text.contains(#""query":"#) || text.contains("&query=") { shape.append("document") }
    return shape.joined(separator: " ")
  }

  private func client(
    _ transport: RecordingTransport, _ configuration: AutomaticPersistedQueryInterceptor.Configuration,
    support: PersistedQuerySupport = PersistedQuerySupport(), getsQueries: Bool = false,
    inside: [any GraphQLInterceptor] = []
  ) throws -> ApolloClient {
    struct Provider: InterceptorProvider {
      let support: PersistedQuerySupport
      let outside: [any GraphQLInterceptor]

      func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
        outside + [AutomaticPersistedQueryInterceptor(support: support)]
      }
    }
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: Provider(support: support, outside: inside),
        endpointURL: try #require(URL(string: "http://127.0.0.1:1/graphql")), httpTransport: transport,
        wireOptions: WireOptions(usesGETForQueries: getsQueries, persistedQueries: configuration)))
  }

  /// Answers each request with the next of these bodies. The last body is repeated.
  private func answering(_ bodies: String...) -> RecordingTransport {
    RecordingTransport { request, number in .json(bodies[min(number, bodies.count) - 1], to: request) }
  }

  @Test("it is off unless it is asked for", .rule("request.4"))
  func off() async throws {
    let transport = answering(heroJSON)
    _ = try await client(transport, .init()).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(transport.requests.map(Self.shape) == ["POST document"])
  }

  @Test("a hash the server knows is all that is sent", .rule("request.4"))
  func known() async throws {
    let transport = answering(heroJSON)
    let response = try await client(transport, .init(isEnabled: true)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(transport.requests.map(Self.shape) == ["POST hash"])
  }

  private struct CountUp: GraphQLSubscription {
    typealias Data = JSONValue

    var operationName: String? { "CountUp" }
    var document: String { "subscription CountUp { count }" }
  }

  private struct Listed: GraphQLQuery, IdentifiedOperation {
    typealias Data = JSONValue

    var operationName: String? { "Listed" }
    var document: String { "" }
    var operationIdentifier: String? { "list-1" }
  }

  @Test("a client of a list of operations sends the hash of each operation, and never a document")
  func persistedOnly() async throws {
    let transport = answering(#"{"data":{"hero":null,"rename":1}}"#)
    let client = try client(transport, .persistedOnly)
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    _ = try await client.perform(mutation: Rename())
    for try await _ in try client.subscribe(subscription: CountUp()) {}
    let file = GraphQLFile(fieldName: "file", originalName: "a", mimeType: "text/plain", data: Data("a".utf8))
    _ = try await client.upload(operation: Rename(), files: [file])
    #expect(transport.requests.prefix(3).map(Self.shape) == ["POST hash", "POST hash", "POST hash"])
    let body = try JSONValue(parsing: [UInt8](try #require(transport.requests.first?.httpBody)))
    #expect(
      body["extensions"]?["persistedQuery"]?["sha256Hash"]
        == "45d2bec21196f9c5fc48f109c0127de52ccda1ef26e3fa2ff06a687395652403")
    guard case .segmented(let form)? = transport.requests.last?.body, case .data(let start)? = form.segments.first else {
      return #expect(Bool(false), "the upload has no form")
    }
    let text = String(decoding: start, as: UTF8.self)
    #expect(text.contains("sha256Hash") && !text.contains("mutation Rename"))
  }

  @Test("a client of a list of operations can send the hashes of queries with GET")
  func persistedOnlyByGET() async throws {
    let transport = answering(heroJSON)
    _ = try await client(transport, .init(isEnabled: true, usesGETForHashes: true, sendsDocuments: false)).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(transport.requests.map(Self.shape) == ["GET hash"])
  }

  @Test("the identifier of an operation takes the place of the hash, and the operation needs no document")
  func identifier() async throws {
    let transport = answering(#"{"data":{"a":1}}"#)
    let response = try await client(transport, .persistedOnly).fetch(query: Listed(), cachePolicy: .networkOnly)
    #expect(try response.data == ["a": 1])
    let body = try JSONValue(parsing: [UInt8](try #require(transport.requests.first?.httpBody)))
    #expect(body["extensions"]?["persistedQuery"]?["sha256Hash"] == "list-1" && body["query"] == nil)
  }

  @Test("a hash that a list does not have is an error, and nothing is sent again", arguments: [notFound, notSupportedByCode])
  func unlisted(refusal: String) async throws {
    let transport = answering(refusal, heroJSON)
    let error = await #expect(throws: AutomaticPersistedQueryError.self) {
      try await client(transport, .persistedOnly).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == "persistedQueryNotFoundForPersistedOnlyQuery" && error?.operationName == "Hero")
    #expect(transport.requests.count == 1)
  }

  @Test("an operation without a document has an empty one where a protocol requires it")
  func emptyDocument() throws {
    var request = JSONRequest(operation: HeroQuery(), endpoint: try #require(URL(string: "ws://127.0.0.1:1/")))
    request.wireOverrides.document = .omitted
    #expect(try JSONValue(parsing: request.operationPayload())["query"] == "")
  }

  @Test(
    "a hash the server does not know is sent again with its document, and the refusal is not shown", .rule("request.4"),
    arguments: [notFound, notFoundByCode],
    [
      (false, false, ["POST hash", "POST hash document"]), (true, false, ["GET hash", "POST hash document"]),
      (false, true, ["GET hash", "GET hash document"]), (true, true, ["GET hash", "GET hash document"]),
    ])
  func unknown(refusal: String, methods: (hashes: Bool, queries: Bool, sent: [String])) async throws {
    let transport = answering(refusal, heroJSON)
    let client = try client(
      transport, .init(isEnabled: true, usesGETForHashes: methods.hashes), getsQueries: methods.queries)
    let response = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(!response.hasErrors)
    #expect(transport.requests.map(Self.shape) == methods.sent)
  }

  @Test(
    "a hash may be refused with a status of 400 to 499 as application/json", .rule("request.4"),
    arguments: [(notFound, 400), (notFoundByCode, 404), (notSupported, 400), (notSupportedByCode, 422)])
  func refusedWithStatus(refusal: String, status: Int) async throws {
    let transport = RecordingTransport { request, number in
      number == 1 ? .json(refusal, status: status, to: request) : .json(heroJSON, to: request)
    }
    let client = try client(transport, .init(isEnabled: true))
    let response = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(transport.requests.map(Self.shape).last?.hasSuffix("document") == true)
    #expect(transport.requests.count == 2)
  }

  @Test("such an answer with another status, type or message stays an error", .rule("request.4"), arguments: [0, 1, 2, 3])
  func otherStatuses(row: Int) async throws {
    let (body, status, type) = [
      (Self.notFound, 403, "application/json"), (Self.notFound, 500, "application/json"), (Self.notFound, 400, "text/plain"),
      (#"{"errors":[{"message":"no"}]}"#, 400, "application/json"),
    ][row]
    let transport = RecordingTransport { request, _ in .json(body, status: status, headers: ["Content-Type": type], to: request) }
    await #expect(throws: ResponseCodeError.self) {
      try await client(transport, .init(isEnabled: true)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(transport.requests.count == 1)
  }

  @Test("a second refusal of the same hash is persistedQueryRetryFailed", .rule("request.4"))
  func retryFailed() async throws {
    let transport = answering(Self.notFound)
    let client = try client(transport, .init(isEnabled: true))
    let error = await #expect(throws: AutomaticPersistedQueryError.self) {
      _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == "persistedQueryRetryFailed")
    #expect(error?.operationName == "Hero")
    #expect(transport.requests.count == 2)
  }

  @Test(
    "an endpoint that does not support it gets documents from then on", .rule("request.4"),
    arguments: [notSupported, notSupportedByCode])
  func rememberedRefusal(refusal: String) async throws {
    let transport = answering(refusal, heroJSON)
    let support = PersistedQuerySupport()
    let client = try client(transport, .init(isEnabled: true, usesGETForHashes: true), support: support)
    for _ in 0..<2 {
      let response = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
      #expect(try response.data?.hero?.name == "R2-D2")
    }
    #expect(transport.requests.map(Self.shape) == ["GET hash", "POST document", "POST document"])
    #expect(support.isRefused(by: "http://127.0.0.1:1/graphql"))
    #expect(!support.isRefused(by: "http://127.0.0.1:2/graphql"))
  }

  @Test("a server that first knows nothing and then refuses gets the document alone", .rule("request.4"))
  func refusedLate() async throws {
    let transport = answering(Self.notFound, Self.notSupported, heroJSON)
    _ = try await client(transport, .init(isEnabled: true)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(transport.requests.map(Self.shape) == ["POST hash", "POST hash document", "POST document"])
  }

  @Test("the hash of a mutation goes by POST whatever the options say", .rule("request.4"))
  func mutation() async throws {
    let transport = answering(Self.notFound, #"{"data":{"rename":1}}"#)
    _ = try await client(transport, .init(isEnabled: true, usesGETForHashes: true), getsQueries: true).perform(mutation: Rename())
    #expect(transport.requests.map(Self.shape) == ["POST hash", "POST hash document"])
  }

  @Test("another error of the server passes untouched", .rule("request.4"))
  func otherErrors() async throws {
    let transport = answering(#"{"errors":[{"message":"no hero"}],"data":null}"#)
    let response = try await client(transport, .init(isEnabled: true)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(response.errors?.first?.message == "no hero")
    #expect(transport.requests.count == 1)
  }

  @Test("the hash is that of the text that is sent, also if an interceptor changed it", .rule("request.4"))
  func changedDocument() async throws {
    struct Changing: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request, next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        var request = request
        request.wireOverrides.document = .replaced("{ hero { name __typename } }")
        return await next(request)
      }
    }
    let transport = answering(Self.notFound, heroJSON)
    let client = try client(transport, .init(isEnabled: true), inside: [Changing()])
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    let bodies = try transport.requests.map { try JSONValue(parsing: [UInt8]($0.httpBody ?? Data())) }
    #expect(bodies[1]["query"]?.string == "{ hero { name __typename } }")
    let hashes = bodies.map { $0["extensions"]?["persistedQuery"]?["sha256Hash"]?.string }
    #expect(hashes == [Self.changedHash, Self.changedHash])
  }

  private static let changedHash = "c9ae24c8eb15c6f6053bb176011c0d6d7524633435fb62372a69188f23a97529"
}
