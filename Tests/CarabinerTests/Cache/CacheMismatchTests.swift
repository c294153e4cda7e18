import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Cached results that do not fit, and requests on their way to the cache")
struct CacheMismatchTests {
  private struct StrictQuery: GraphQLQuery {
    struct Data: Decodable, Sendable, Equatable {
      struct Hero: Decodable, Sendable, Equatable { let name: String }

      let hero: Hero
    }

    var operationName: String? { "Strict" }
    var document: String { "query Strict { hero { name } }" }
  }

  private static let unfit = [#"{"hero":null}"#, #"{"hero":{"name":null}}"#, #"{"hero":{"name":true}}"#]

  private func client(_ cached: String, _ transport: RecordingTransport) async throws -> ApolloClient {
    let store = ApolloStore()
    try await store.publish(cached, for: .query("{ hero { name } }"))
    return try .testing(transport, store: store)
  }

  @Test("cacheFirst asks the network if what is cached does not fit", .rule("detail.4"), arguments: unfit)
  func cacheFirst(_ cached: String) async throws {
    let transport = RecordingTransport(json: heroJSON)
    let response = try await client(cached, transport).fetch(query: StrictQuery(), cachePolicy: .cacheFirst)
    #expect(response.source == .server)
    #expect(transport.requests.count == 1)
  }

  @Test("cacheAndNetwork does not return data that does not fit", .rule("detail.4"), arguments: unfit)
  func cacheAndNetwork(_ cached: String) async throws {
    var sources: [GraphQLResponse<StrictQuery>.Source] = []
    for try await response in try await client(cached, RecordingTransport(json: heroJSON)).fetch(
      query: StrictQuery(), cachePolicy: .cacheAndNetwork)
    {
      sources.append(response.source)
    }
    #expect(sources == [.server])
  }

  @Test("cacheOnly throws what does not fit", .rule("detail.4"), arguments: unfit)
  func cacheOnly(_ cached: String) async throws {
    let transport = RecordingTransport(json: heroJSON)
    let error = await #expect(throws: ResponseParsingError.self) {
      _ = try await client(cached, transport).fetch(query: StrictQuery(), cachePolicy: .cacheOnly)
    }
    #expect(error?.code == .dataMismatch)
    #expect(transport.requests.isEmpty)
  }

  @Test("networkFirst throws the network's error if what is cached does not fit", .rule("detail.4"), arguments: unfit)
  func networkFirst(_ cached: String) async throws {
    let refused = TransportError(.cannotConnect, "connection refused", url: "")
    await #expect(throws: TransportError.self) {
      _ = try await client(cached, RecordingTransport { _, _ in throw refused }).fetch(
        query: StrictQuery(), cachePolicy: .networkFirst)
    }
  }

  @Test("cacheOnly throws a read error, the other policies ask the network", .rule("detail.4"))
  func readErrors() async throws {
    let store = ApolloStore()
    let broken = Record(key: "QUERY_ROOT", fields: ["hero": Data(#"{"no":"reference"}"#.utf8)])
    _ = try await store.cache.merge(records: RecordSet([broken]))
    let client = try ApolloClient.testing(RecordingTransport(json: heroJSON), store: store)
    let error = await #expect(throws: StoreError.self) {
      _ = try await client.fetch(query: HeroQuery(), cachePolicy: .cacheOnly)
    }
    #expect(error?.code == .malformedRecord)
    #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheFirst).source == .server)
  }

  @Test("a retry with the document after the cached result does not return that result again", .rule("detail.6"))
  func retryAfterCachedResult() async throws {
    let store = ApolloStore()
    try await store.publish(#"{"hero":{"name":"cached"}}"#, for: .query("{ hero { name } }"))
    let transport = RecordingTransport { request, number in
      .json(number == 1 ? #"{"errors":[{"message":"PersistedQueryNotFound"}]}"# : heroJSON, to: request)
    }
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        endpointURL: try #require(URL(string: "http://127.0.0.1:1/graphql")), httpTransport: transport, store: store,
        wireOptions: WireOptions(persistedQueries: .init(isEnabled: true))))
    var names: [String?] = []
    for try await response in try await client.fetch(query: HeroQuery(), cachePolicy: .cacheAndNetwork) {
      names.append(try response.data?.hero?.name)
    }
    #expect(names == ["cached", "R2-D2"])
    #expect(transport.requests.count == 2)
  }

  /// Sets the request's variables and whether its results are written.
  private struct Deciding: GraphQLInterceptor {
    let writes: Bool

    func intercept<Request: GraphQLRequest>(
      request: Request, next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      var request = request
      request.writeResultsToCache = writes
      request.fetchBehavior = .networkOnly
      return await next(request)
    }
  }

  /// Records the write requests to the cache stage.
  private struct WriteJournal: CacheInterceptor {
    let journal: Journal

    func readCacheData<Request: GraphQLRequest>(
      from store: ApolloStore, request: Request
    ) async throws -> GraphQLResponse<Request.Operation>? { nil }

    func writeCacheData<Request: GraphQLRequest>(
      to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
    ) async throws {
      journal.note("\(request.writeResultsToCache) \(request.fetchBehavior == .networkOnly)")
    }
  }

  @Test(
    "whether and for which request a result is written is what interceptors made of it", .rule("detail.7"),
    arguments: [true, false])
  func writeFlag(_ writes: Bool) async throws {
    let journal = Journal()
    let client = try ApolloClient.testing(
      RecordingTransport(json: heroJSON),
      provider: ListProvider(graphQL: [Deciding(writes: writes)], cache: WriteJournal(journal: journal)))
    _ = try await client.fetch(
      query: HeroQuery(), cachePolicy: .cacheFirst, configuration: RequestConfiguration(writeResultsToCache: !writes))
    #expect(journal.entries == (writes ? ["true true"] : []))
  }
}
