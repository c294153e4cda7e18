import Carabiner
import FoundationEssentials
import Synchronization
import TestTools
import Testing

/// The interceptors from the documentation of request chains, as readers copy them.
@Suite("Interceptors as the documentation of request chains shows them")
struct DocumentedExamplesTests {
  @Test("a logging interceptor sees the request, the response and errors")
  func requestLogging() async throws {
    struct RequestLoggingInterceptor: GraphQLInterceptor {
      let logger: Journal

      func intercept<Request: GraphQLRequest>(
        request: Request,
        next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        logger.note("request \(request.operation.operationName ?? "anonymous")")
        return await next(request)
          .map { result in
            logger.note("response \(request.operation.operationName ?? "anonymous")")
            return result
          }
          .mapErrors { error in
            logger.note("failed")
            throw error
          }
      }
    }
    let journal = Journal()
    let provider = ListProvider(graphQL: [RequestLoggingInterceptor(logger: journal)], http: [ResponseCodeInterceptor()])
    _ = try await ApolloClient.testing(RecordingTransport(json: heroJSON), provider: provider).fetch(query: HeroQuery())
    await #expect(throws: ResponseCodeError.self) {
      try await ApolloClient.testing(RecordingTransport(json: "", status: 500), provider: provider).fetch(query: HeroQuery())
    }
    #expect(journal.entries == ["request Hero", "response Hero", "request Hero", "failed"])
  }

  struct AuthHeaderInterceptor: GraphQLInterceptor {
    let authToken: String

    func intercept<Request: GraphQLRequest>(
      request: Request,
      next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      var authenticatedRequest = request
      authenticatedRequest.additionalHeaders["Authorization"] = "Bearer \(authToken)"
      return await next(authenticatedRequest)
    }
  }

  @Test("a provider that extends the defaults adds a header with its own interceptor and keeps the others")
  func customProvider() async throws {
    struct CustomInterceptorProvider: InterceptorProvider {
      func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
        return DefaultInterceptorProvider.shared.graphQLInterceptors(for: operation) + [
          AuthHeaderInterceptor(authToken: "secret")
        ]
      }
    }
    let transport = RecordingTransport(json: heroJSON)
    _ = try await ApolloClient.testing(transport, provider: CustomInterceptorProvider()).fetch(query: HeroQuery())
    #expect(transport.requests.first?.value(forHTTPHeaderField: "authorization") == "Bearer secret")
    // The default stages are still present: status 500 is an error.
    await #expect(throws: ResponseCodeError.self) {
      try await ApolloClient.testing(RecordingTransport(json: "{}", status: 500), provider: CustomInterceptorProvider())
        .fetch(query: HeroQuery())
    }
  }

  @Test("a validating cache interceptor can force a fetch and refuse a write")
  func validatingCache() async throws {
    struct ValidatingCacheInterceptor: CacheInterceptor {
      let isStale: Bool
      let mayStore: Bool

      func readCacheData<Request: GraphQLRequest>(
        from store: ApolloStore,
        request: Request
      ) async throws -> GraphQLResponse<Request.Operation>? {
        guard let cachedResponse = try await store.load(request.operation) else {
          return nil
        }
        return isStale ? nil : cachedResponse
      }

      func writeCacheData<Request: GraphQLRequest>(
        to store: ApolloStore,
        request: Request,
        response: ParsedResult<Request.Operation>
      ) async throws {
        guard let records = response.cacheRecords, mayStore else { return }
        try await store.publish(records: records)
      }
    }
    let store = ApolloStore()
    func source(isStale: Bool, mayStore: Bool) async throws -> GraphQLResponse<HeroQuery>.Source {
      let client = try ApolloClient.testing(
        RecordingTransport(json: heroJSON),
        provider: ListProvider(cache: ValidatingCacheInterceptor(isStale: isStale, mayStore: mayStore)), store: store)
      let response = try await client.fetch(query: HeroQuery())
      return response.source
    }
    #expect(try await source(isStale: false, mayStore: false) == .server)
    #expect(try await source(isStale: false, mayStore: true) == .server)
    #expect(try await source(isStale: false, mayStore: true) == .cache)
    #expect(try await source(isStale: true, mayStore: true) == .server)
  }

  struct AuthenticationError: Error {}

  actor AuthenticationManager {
    private(set) var refreshes = 0

    func refreshUserToken() async throws -> String {
      refreshes += 1
      return "token \(refreshes)"
    }
  }

  @Test("a re-authenticating interceptor refreshes the token and retries")
  func reauthentication() async throws {
    struct ReauthenticationInterceptor: GraphQLInterceptor {
      let authManager: AuthenticationManager

      func intercept<Request: GraphQLRequest>(
        request: Request,
        next: NextGraphQLInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        return await next(request)
          .mapErrors { error in
            if let error = error as? ResponseCodeError, error.response.statusCode == 401 {
              let newAuthToken = try await authManager.refreshUserToken()
              var refreshedRequest = request
              refreshedRequest.additionalHeaders["Authorization"] = "Bearer \(newAuthToken)"
              throw RequestChain<Request>.Retry(request: refreshedRequest)
            }
            throw error
          }
      }
    }
    let manager = AuthenticationManager()
    let transport = RecordingTransport { request, _ in
      request.value(forHTTPHeaderField: "Authorization") == "Bearer token 1"
        ? .json(heroJSON, to: request) : .json("", status: 401, to: request)
    }
    let response = try await ApolloClient.testing(
      transport,
      provider: ListProvider(
        graphQL: [MaxRetryInterceptor(), ReauthenticationInterceptor(authManager: manager)], http: [ResponseCodeInterceptor()])
    ).fetch(query: HeroQuery())
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(transport.requests.count == 2)
    #expect(await manager.refreshes == 1)
  }

  enum Tracing {
    @TaskLocal static var correlationId: String?
  }

  struct CorrelatedOperationInterceptor: GraphQLInterceptor {
    let journal: Journal

    func intercept<Request: GraphQLRequest>(
      request: Request,
      next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      return await next(request)
        .map { result in
          journal.note(Tracing.correlationId ?? "unknown")
          return result
        }
    }
  }

  @Test("a task-local that an interceptor binds around next is there for post-flight work further in", .rule("chain.14"))
  func taskLocalOfInterceptor() async throws {
    struct TracingInterceptor: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request,
        next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        return await Tracing.$correlationId.withValue("from the interceptor") {
          return await next(request)
        }
      }
    }
    let journal = Journal()
    let provider = ListProvider(graphQL: [TracingInterceptor(), CorrelatedOperationInterceptor(journal: journal)])
    _ = try await ApolloClient.testing(RecordingTransport(json: heroJSON), provider: provider).fetch(query: HeroQuery())
    #expect(journal.entries == ["from the interceptor"])
    #expect(Tracing.correlationId == nil)
  }

  @Test("the task-local is set for every result of a stream, and not outside it", .rule("chain.14"))
  func taskLocalOfStream() async throws {
    struct TracingInterceptor: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request,
        next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        return await Tracing.$correlationId.withValue("inside") {
          return await next(request)
        }
      }
    }
    struct ThreeResults: ResponseParsingInterceptor {
      func parse<Request: GraphQLRequest>(
        response: HTTPResponse, for request: Request, includeCacheRecords: Bool
      ) async throws -> InterceptorResultStream<Request> {
        let body = try ResponseBody(Data(heroJSON.utf8))
        return PullStream(elements: (0..<3).map { _ in ParsedResult(result: GraphQLResponse(body: body)) })
      }
    }
    let inner = Journal()
    let outer = Journal()
    let provider = ListProvider(
      graphQL: [
        CorrelatedOperationInterceptor(journal: outer), TracingInterceptor(), CorrelatedOperationInterceptor(journal: inner),
      ], parser: ThreeResults())
    let results = try ApolloClient.testing(RecordingTransport(json: heroJSON), provider: provider).results(
      of: HeroQuery(), cachePolicy: .networkOnly)
    var count = 0
    for try await _ in results { count += 1 }
    #expect(count == 3)
    #expect(inner.entries == ["inside", "inside", "inside"])
    #expect(outer.entries == ["unknown", "unknown", "unknown"])
  }

  @Test("a task-local of the caller is there for all interceptors", .rule("chain.14"))
  func taskLocalOfCaller() async throws {
    let journal = Journal()
    let client = try ApolloClient.testing(
      RecordingTransport(json: heroJSON), provider: ListProvider(graphQL: [CorrelatedOperationInterceptor(journal: journal)]))
    _ = try await Tracing.$correlationId.withValue("from the caller") { try await client.fetch(query: HeroQuery()) }
    #expect(journal.entries == ["from the caller"])
  }

  struct UserContext: Sendable {
    @TaskLocal static var current: UserContext?
    let userId: String
    let tenantId: String
  }

  enum AuthError: Error {
    case noUserContext
  }

  struct AuthorizationInterceptor: GraphQLInterceptor {
    func intercept<Request: GraphQLRequest>(
      request: Request,
      next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      guard let userContext = UserContext.current else {
        throw AuthError.noUserContext
      }
      var authenticatedRequest = request
      authenticatedRequest.additionalHeaders["X-User-ID"] = userContext.userId
      authenticatedRequest.additionalHeaders["X-Tenant-ID"] = userContext.tenantId
      return await next(authenticatedRequest)
        .mapErrors { error in
          throw error
        }
    }
  }

  struct AuditInterceptor: GraphQLInterceptor {
    let auditLog: Journal

    func intercept<Request: GraphQLRequest>(
      request: Request,
      next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      return await next(request)
        .map { result in
          if let userContext = UserContext.current {
            auditLog.note("\(request.operation.operationName ?? "unknown") by \(userContext.userId)@\(userContext.tenantId)")
          }
          return result
        }
    }
  }

  @Test("a user context guards the request, is sent with it, and is audited afterwards")
  func userContext() async throws {
    let audit = Journal()
    let transport = RecordingTransport(json: heroJSON)
    let client = try ApolloClient.testing(
      transport, provider: ListProvider(graphQL: [AuthorizationInterceptor(), AuditInterceptor(auditLog: audit)]))
    func fetchAsUser<Query: GraphQLQuery>(
      query: Query, userContext: UserContext, cachePolicy: CachePolicy = .default
    ) async throws -> GraphQLResponse<Query> {
      return try await UserContext.$current.withValue(userContext) {
        return try await client.fetch(query: query, cachePolicy: cachePolicy)
      }
    }
    _ = try await fetchAsUser(query: HeroQuery(), userContext: UserContext(userId: "7", tenantId: "acme"))
    #expect(transport.requests.first?.headers["x-user-id"] == "7")
    #expect(transport.requests.first?.headers["x-tenant-id"] == "acme")
    #expect(audit.entries == ["Hero by 7@acme"])
    await #expect(throws: AuthError.noUserContext) { try await client.fetch(query: HeroQuery()) }
    #expect(transport.requests.count == 1)
  }

  @Test("mapChunks may change the bytes before they are parsed")
  func mapChunks() async throws {
    struct Decoding: HTTPInterceptor {
      func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
        let response = try await next(request)
        return response.mapChunks { head, chunk in
          head.statusCode == 200 ? Data(chunk.map { $0 ^ 0x20 }) : chunk
        }
      }
    }
    let scrambled = Data(heroJSON.utf8.map { $0 ^ 0x20 })
    let transport = RecordingTransport { request, _ in
      HTTPResponse(
        response: HTTPURLResponse(url: request.url, statusCode: 200),
        chunks: PullStream(elements: [scrambled.prefix(10), scrambled.dropFirst(10)]))
    }
    let client = try ApolloClient.testing(transport, provider: ListProvider(http: [Decoding()]))
    #expect(try await client.fetch(query: HeroQuery()).data?.hero?.name == "R2-D2")
  }
}
