import Carabiner
import FoundationEssentials
import TestTools
import Testing

struct JournalingGraphQL: GraphQLInterceptor {
  let name: String
  let journal: Journal

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    journal.note("\(name) pre")
    return await next(request).map { result in
      journal.note("\(name) post")
      return result
    }
  }
}

struct JournalingHTTP: HTTPInterceptor {
  let name: String
  let journal: Journal

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    journal.note("\(name) pre")
    let response = try await next(request)
    journal.note("\(name) post")
    return response
  }
}

struct JournalingCache: CacheInterceptor {
  let journal: Journal

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    journal.note("cache read")
    return try await store.load(request.operation)
  }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    journal.note("cache write")
    if let records = response.cacheRecords { try await store.publish(records: records) }
  }
}

struct JournalingParser: ResponseParsingInterceptor {
  let journal: Journal

  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    journal.note("parser")
    return try await JSONResponseParsingInterceptor().parse(
      response: response, for: request, includeCacheRecords: includeCacheRecords)
  }
}

@Suite("The order of the chain")
struct ChainOrderTests {
  private let journal = Journal()

  private func client(_ transport: RecordingTransport, store: ApolloStore = ApolloStore()) throws -> ApolloClient {
    try .testing(
      transport,
      provider: ListProvider(
        graphQL: ["g1", "g2"].map { JournalingGraphQL(name: $0, journal: journal) },
        http: ["h1", "h2"].map { JournalingHTTP(name: $0, journal: journal) },
        cache: JournalingCache(journal: journal), parser: JournalingParser(journal: journal)),
      store: store)
  }

  @Test("the default provider has these stages, and a provider overrides only what it changes", .rule("default.1"))
  func defaults() throws {
    struct OwnCache: InterceptorProvider {
      func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor {
        JournalingCache(journal: Journal())
      }
    }
    let context = RequestContext()
    let defaults = try DefaultInterceptorProvider.shared.interceptors(for: HeroQuery(), context: context)
    #expect(defaults.graphQL.count == 2)
    #expect(defaults.graphQL.first is MaxRetryInterceptor)
    #expect(defaults.graphQL.last is AutomaticPersistedQueryInterceptor)
    #expect(defaults.http.count == 1)
    #expect(defaults.http.first is ResponseCodeInterceptor)
    #expect(defaults.cache is DefaultCacheInterceptor)
    #expect(defaults.parser is JSONResponseParsingInterceptor)
    #expect(defaults.additionalError == nil)
    let own = try OwnCache().interceptors(for: HeroQuery(), context: context)
    #expect(own.cache is JournalingCache)
    #expect(own.graphQL.map { "\(type(of: $0))" } == defaults.graphQL.map { "\(type(of: $0))" })
    #expect(own.parser is JSONResponseParsingInterceptor)
  }

  @Test("a request goes down in order and its response comes up reversed, with the cache write last", .rule("chain.1"))
  func order() async throws {
    let transport = RecordingTransport { [journal] request, _ in
      journal.note("transport")
      return .json(heroJSON, to: request)
    }
    let response = try await client(transport).fetch(query: HeroQuery(), cachePolicy: .cacheFirst)
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(
      journal.entries == [
        "g1 pre", "g2 pre", "cache read", "h1 pre", "h2 pre", "transport", "h2 post", "h1 post", "parser", "g2 post", "g1 post",
        "cache write",
      ])
  }

  @Test("on a cache hit the GraphQL interceptors run both ways, and nothing further in does", .rule("chain.2"))
  func cacheHit() async throws {
    let store = ApolloStore()
    _ = try await ApolloClient.testing(RecordingTransport(json: heroJSON), store: store).fetch(query: HeroQuery())
    let transport = RecordingTransport(json: heroJSON)
    let response = try await client(transport, store: store).fetch(query: HeroQuery(), cachePolicy: .cacheFirst)
    #expect(response.source == .cache)
    #expect(transport.requests.isEmpty)
    #expect(journal.entries == ["g1 pre", "g2 pre", "cache read", "g2 post", "g1 post"])
  }

  @Test("the provider is asked once per request, retries included", .rule("chain.3"))
  func providerIsAskedOnce() async throws {
    struct CountingProvider: InterceptorProvider {
      let journal: Journal
      func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
        journal.note("asked")
        return [RetryOnce(journal: journal)]
      }
    }
    let client = try ApolloClient.testing(RecordingTransport(json: heroJSON), provider: CountingProvider(journal: journal))
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(journal.entries == ["asked", "attempt 1", "attempt 2"])
  }
}

/// Retries once, after the first result.
final class RetryOnce: GraphQLInterceptor {
  let journal: Journal
  private let position = Journal()

  init(journal: Journal) { self.journal = journal }

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    position.note("")
    let attempt = position.entries.count
    journal.note("attempt \(attempt)")
    return await next(request).map { result in
      if attempt == 1 { throw RequestChain<Request>.Retry(request: request) }
      return result
    }
  }
}
