import Carabiner
import FoundationEssentials
import TestTools
import Testing

/// An interceptor that runs one closure.
struct ErrorMapping: GraphQLInterceptor {
  let handler: @Sendable (any Error) throws -> Void

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).mapErrors { error in
      try handler(error)
      return nil
    }
  }
}

struct Failing: GraphQLInterceptor {
  struct Failure: Error, Equatable {}

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    throw Failure()
  }
}

struct Dropping: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).compactMap { _ in nil }
  }
}

struct AlwaysRetrying: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    throw RequestChain<Request>.Retry(request: request)
  }
}

struct Answering: GraphQLInterceptor {
  let json: String

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    PullStream(ParsedResult(result: GraphQLResponse(body: try ResponseBody(Data(json.utf8)), source: .interceptor)))
  }
}

@Suite("Errors, retries and answers of the chain")
struct ChainBehaviourTests {
  private let transport = RecordingTransport(json: heroJSON)

  private func fetch(_ interceptors: [any GraphQLInterceptor], maximumAttempts: Int = 10) async throws -> GraphQLResponse<
    HeroQuery
  > {
    try await ApolloClient.testing(
      transport, provider: ListProvider(graphQL: interceptors), maximumAttempts: maximumAttempts
    ).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
  }

  @Test("an error thrown before next reaches mapErrors of an outer interceptor", .rule("chain.4"))
  func earlyErrorIsMapped() async throws {
    let journal = Journal()
    let outer = ErrorMapping { error in
      journal.note("\(type(of: error))")
      throw error
    }
    await #expect(throws: Failing.Failure()) { try await fetch([outer, Failing()]) }
    #expect(journal.entries == ["Failure"])
    #expect(transport.requests.isEmpty)
  }

  @Test("an error that is answered with nil ends the stream without a result", .rule("chain.5"))
  func errorBecomesNothing() async throws {
    let error = await #expect(throws: RequestChainError.self) { try await fetch([ErrorMapping { _ in }, Failing()]) }
    #expect(error?.code == .noResults)
  }

  @Test("mapErrors does not see a retry", .rule("chain.5"))
  func retryIsNotMapped() async throws {
    let journal = Journal()
    let outer = ErrorMapping { journal.note("\($0)") }
    let response = try await fetch([outer, RetryOnce(journal: Journal())])
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(journal.entries.isEmpty)
  }

  @Test("an interceptor may answer without calling next", .rule("chain.6"))
  func answerWithoutNext() async throws {
    let response = try await fetch([Answering(json: #"{"data":{"hero":{"name":"C-3PO"}}}"#)])
    #expect(try response.data?.hero?.name == "C-3PO")
    #expect(transport.requests.isEmpty)
  }

  @Test("the chain itself stops endless retries", .rule("chain.7"), arguments: [1, 3, 10])
  func retryCeiling(maximum: Int) async throws {
    let error = await #expect(throws: RequestChainError.self) {
      try await fetch([AlwaysRetrying()], maximumAttempts: maximum)
    }
    #expect(error?.code == .retryLimit)
    #expect(error?.message.contains("\(maximum) times") == true)
  }

  @Test("an HTTP interceptor may have the HTTP request built and sent again", .rule("chain.8"))
  func httpRetry() async throws {
    struct Repeating: HTTPInterceptor {
      func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
        let response = try await next(request)
        if response.response.statusCode == 503 { throw HTTPRetry() }
        return response
      }
    }
    let journal = Journal()
    let transport = RecordingTransport { request, number in .json(heroJSON, status: number < 3 ? 503 : 200, to: request) }
    let client = try ApolloClient.testing(
      transport,
      provider: ListProvider(graphQL: [JournalingGraphQL(name: "g", journal: journal)], http: [Repeating()]))
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(transport.requests.count == 3)
    #expect(journal.entries == ["g pre", "g post"])
  }

  @Test("MaxRetryInterceptor allows three retries and then names the operation", .rule("chain.9"))
  func maxRetries() async throws {
    let error = await #expect(throws: MaxRetriesError.self) { try await fetch([MaxRetryInterceptor(), AlwaysRetrying()]) }
    #expect(error == MaxRetriesError(count: 3, operationName: "Hero"))
  }

  @Test(
    "delays grow from the base by the multiplier up to the maximum", .rule("chain.9"),
    arguments: zip(1...8, [0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 20]))
  func backoff(retry: Int, seconds: Double) {
    let configuration = MaxRetryInterceptor.Configuration(enableExponentialBackoff: true)
    #expect(abs(configuration.delay(beforeRetry: retry) - seconds) < 1e-9)
  }

  @Test("a stream that ends with nothing says which step ended it", .rule("chain.10"))
  func nothingSaysWhere() async throws {
    let dropped = await #expect(throws: RequestChainError.self) { try await fetch([Dropping()]) }
    #expect(dropped?.code == .noResults)
    #expect(dropped?.message.contains("the response with status 200 has no result, or an interceptor dropped it") == true)
    let early = await #expect(throws: RequestChainError.self) { try await fetch([ErrorMapping { _ in }, Failing()]) }
    #expect(early?.message.contains("an interceptor ended the stream before the request was sent") == true)
    let missed = await #expect(throws: RequestChainError.self) {
      for try await _ in try ApolloClient.testing(transport).results(of: HeroQuery(), cachePolicy: .cacheOnly) {}
    }
    #expect(missed?.message.contains("the cache does not have it") == true)
  }

  @Test("a cancelled request surfaces as CancellationError", .rule("chain.12"))
  func cancellation() async throws {
    let transport = RecordingTransport { request, _ in
      try await Task.sleep(for: .seconds(30))
      return .json(heroJSON, to: request)
    }
    let client = try ApolloClient.testing(transport)
    let task = Task { try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly) }
    while transport.requests.isEmpty { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("the timeout covers interceptors too", .rule("chain.13"))
  func timeout() async throws {
    struct Dawdling: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request, next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        try await Task.sleep(for: .seconds(30))
        return await next(request)
      }
    }
    let client = try ApolloClient.testing(transport, provider: ListProvider(graphQL: [Dawdling()]))
    let error = await #expect(throws: RequestChainError.self) {
      try await client.fetch(
        query: HeroQuery(), cachePolicy: .networkOnly, configuration: RequestConfiguration(requestTimeout: 0.05))
    }
    #expect(error?.code == .timedOut)
  }

  @Test("a timeout that is longer than a clock can count is none", .rule("chain.13"), arguments: [1e300, .infinity])
  func endlessTimeout(seconds: Double) async throws {
    let client = try ApolloClient.testing(transport, provider: ListProvider(graphQL: []))
    let response = try await client.fetch(
      query: HeroQuery(), cachePolicy: .networkOnly, configuration: RequestConfiguration(requestTimeout: seconds))
    #expect(try response.data?.hero?.name == "R2-D2")
  }

  @Test("the additional error interceptor sees each error once and may replace it", .rule("chain.15"))
  func additionalErrorInterceptor() async throws {
    struct Last: AdditionalErrorInterceptor {
      struct Replaced: Error {}
      let journal: Journal
      func intercept<Request: GraphQLRequest>(error: any Error, request: Request) async -> any Error {
        journal.note("\(type(of: error))")
        return Replaced()
      }
    }
    struct Provider: InterceptorProvider {
      let journal: Journal
      func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { [Failing()] }
      func additionalErrorInterceptor<Operation: GraphQLOperation>(
        for operation: Operation
      ) -> (any AdditionalErrorInterceptor)? { Last(journal: journal) }
    }
    let journal = Journal()
    let client = try ApolloClient.testing(transport, provider: Provider(journal: journal))
    await #expect(throws: Last.Replaced.self) { try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly) }
    #expect(journal.entries == ["Failure"])
  }

  @Test("a result carries the head of the response it came in", .rule("chain.16"))
  func headOfResponse() async throws {
    let transport = RecordingTransport { request, _ in
      .json(heroJSON, headers: ["Content-Type": "application/json", "X-Trace": "42"], to: request)
    }
    let response = try await ApolloClient.testing(transport).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(response.httpResponse?.statusCode == 200)
    #expect(response.httpResponse?.headers["x-trace"] == "42")
  }

  @Test(
    "a status outside 200 to 299 is an error although the body is empty", .rule("default.2"),
    arguments: [301, 401, 404, 500, 503])
  func statusCode(status: Int) async throws {
    let transport = RecordingTransport { request, _ in
      HTTPResponse(response: HTTPURLResponse(url: request.url, statusCode: status), chunks: .empty)
    }
    let error = await #expect(throws: ResponseCodeError.self) {
      try await ApolloClient.testing(transport).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.response.statusCode == status)
  }

  @Test("a GraphQL response of status 400 is parsed when its media type says what it is", .rule("default.2"))
  func graphQLResponseWithStatus() async throws {
    let transport = RecordingTransport { request, _ in
      .json(
        #"{"errors":[{"message":"no"}]}"#, status: 400,
        headers: ["Content-Type": "application/graphql-response+json; charset=utf-8"],
        to: request)
    }
    let response = try await ApolloClient.testing(transport).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(response.errors?.map(\.message) == ["no"])
  }

  @Test(
    "a body that is not a GraphQL response is refused with its first bytes", .rule("json.2"),
    arguments: ["[]", "{}", "42", #"{"message":"hello"}"#])
  func notAResponse(body: String) async throws {
    let error = await #expect(throws: ResponseParsingError.self) {
      try await ApolloClient.testing(RecordingTransport(json: body)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == .notAGraphQLResponse)
  }

  @Test(
    "a broken body is refused with the place of the fault", .rule("json.1"),
    arguments: [(#"{"data":{"#, 9), (#"{"data":tru}"#, 8)])
  func brokenBody(body: String, offset: Int) async throws {
    let error = await #expect(throws: ResponseParsingError.self) {
      try await ApolloClient.testing(RecordingTransport(json: body)).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == .invalidJSON)
    #expect(error?.message.contains("byte") == true)
  }

  @Test(
    "data that does not fit the type is an error of the fetch, which names the field",
    arguments: [
      (#"{"hero":{"name":true}}"#, "at the field hero.name: Expected to decode String"),
      (#"{"hero":{"name":null}}"#, "at the field hero.name: "), (#"{"hero":{}}"#, "the field hero.name is missing"),
      (#"{"hero":[]}"#, "at the field hero: "),
    ])
  func dataMismatch(data: String, words: String) async throws {
    let error = await #expect(throws: ResponseParsingError.self) {
      try await ApolloClient.testing(RecordingTransport(json: #"{"data":\#(data)}"#)).fetch(
        query: HeroQuery(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == .dataMismatch)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
