@_spi(InterceptorHints) import Carabiner
import FoundationEssentials
import Testing

/// A stage that is idle for the given attempts.
private struct IdleAt: GraphQLInterceptor {
  let attempts: ClosedRange<Int>
  let journal: Journal

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    journal.note("at attempt \(request.context.attempt)")
    return await next(request)
  }

  func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool { attempts.contains(request.context.attempt) }
}

/// A stage that passes responses with one status and changes the status of all others.
private struct PassingStatus: HTTPInterceptor {
  let name: String
  let status: Int
  let journal: Journal

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let response = try await next(request)
    journal.note("\(name) intercepted \(response.response.statusCode)")
    if passes(response.response) { return response }
    var changed = response
    changed.response.statusCode = status
    return changed
  }

  var stageName: String { name }
  var traits: InterceptorHints { .seesOnlyHeads }
  func passes(_ head: HTTPURLResponse) -> Bool { head.statusCode == status }
}

private final class JournalTracer: ChainTracer {
  let journal = Journal()

  func record(_ event: StageEvent) { journal.note("\(event.stage) \(event.hook)") }
}

@Suite("Stages that have nothing to do")
struct IdleStageTests {
  private let journal = Journal()

  private func fetch(
    _ provider: ListProvider, _ transport: RecordingTransport = RecordingTransport(json: heroJSON),
    tracer: (any ChainTracer)? = nil
  ) async throws -> GraphQLResponse<HeroQuery> {
    try await ApolloClient.testing(transport, provider: provider)
      .fetch(query: HeroQuery(), cachePolicy: .networkOnly, configuration: RequestConfiguration(tracer: tracer))
  }

  @Test("a GraphQL stage is passed over while it is idle, and asked again at each attempt")
  func idleStage() async throws {
    let stages: [any GraphQLInterceptor] = [
      IdleAt(attempts: 0...0, journal: journal), RetryOnce(journal: Journal()), IdleAt(attempts: 0...9, journal: journal),
    ]
    let response = try await fetch(ListProvider(graphQL: stages))
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(journal.entries == ["at attempt 1"])
  }

  @Test("a trace shows idle stages and those that see only heads")
  func traced() async throws {
    let tracer = JournalTracer()
    let provider = ListProvider(
      graphQL: [IdleAt(attempts: 0...9, journal: journal)], http: [PassingStatus(name: "code", status: 200, journal: journal)])
    _ = try await fetch(provider, tracer: tracer)
    #expect(tracer.journal.entries.contains("IdleAt intercept"))
    #expect(tracer.journal.entries.contains("code head"))
    #expect(journal.entries == ["at attempt 0", "code intercepted 200"])
  }

  @Test("stages that see only heads intercept what does not pass, and see what those further in made of it")
  func heads() async throws {
    let transport = RecordingTransport(json: heroJSON, status: 500)
    let provider = ListProvider(http: [
      PassingStatus(name: "outermost", status: 201, journal: journal),
      PassingStatus(name: "outer", status: 200, journal: journal),
      JournalingHTTP(name: "middle", journal: journal),
      PassingStatus(name: "inner", status: 200, journal: journal),
    ])
    let response = try await fetch(provider, transport)
    #expect(response.httpResponse?.statusCode == 201)
    #expect(try response.data?.hero?.name == "R2-D2")
    #expect(journal.entries == ["middle pre", "inner intercepted 500", "middle post", "outermost intercepted 200"])
    #expect(transport.requests.count == 1)
  }
}
