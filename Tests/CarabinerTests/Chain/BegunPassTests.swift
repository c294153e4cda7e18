import Carabiner
import FoundationEssentials
import Synchronization
import Testing

/// A pass that writes into a journal, and lets elements pass by a plain call if the stage says so.
private final class JournalingPass<Element: Sendable>: StreamPass {
  private struct State {
    var inner: PullStream<Element>?
    var outer: (any StreamPass<Element>)?
  }

  private let state = Mutex(State())
  private let stage: PassingStage

  init(_ stage: PassingStage) { self.stage = stage }

  deinit { stage.journal.note("\(stage.name) ends") }

  var outer: (any StreamPass<Element>)? {
    get { state.withLock { $0.outer } }
    set { state.withLock { $0.outer = newValue } }
  }

  var isUnfinished: Bool { stage.kind == .unfinished }

  func take(_ inner: PullStream<Element>) { state.withLock { $0.inner = inner } }

  func passes(_ element: Element) -> Bool {
    stage.journal.note("\(stage.name) sees")
    return stage.passesElements
  }

  func next() async throws -> PullStream<Element>.Step {
    stage.journal.note("\(stage.name) next")
    do {
      return try await state.withLock { $0.inner }?.pull() ?? .end
    } catch {
      stage.journal.note("\(stage.name) error")
      throw error
    }
  }
}

private struct Refusal: Error {}

private struct PassingStage: GraphQLInterceptor {
  enum Kind { case passing, unfinished, failing }

  let name: String
  let journal: Journal
  var passesElements = true
  var kind = Kind.passing

  func beginPass<Request: GraphQLRequest>(
    _ request: inout Request
  ) throws -> BegunPass<ParsedResult<Request.Operation>>? {
    journal.note("\(name) begins")
    if kind == .failing { throw Refusal() }
    if kind == .passing { request.additionalHeaders.add(name: "X-Stage", value: name) }
    return BegunPass(JournalingPass<ParsedResult<Request.Operation>>(self))
  }

  func finishPass<Request: GraphQLRequest>(
    _ pass: BegunPass<ParsedResult<Request.Operation>>, request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    journal.note("\(name) continues")
    return await next(request)
  }

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    journal.note("\(name) intercepts")
    return await next(request)
  }
}

private struct Provider: InterceptorProvider {
  let stages: [any GraphQLInterceptor]

  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { stages }
}

@Suite("Stages that begin by a plain call")
struct BegunPassTests {
  private let journal = Journal()
  private let transport = RecordingTransport(json: #"{"data":{"hero":null}}"#)

  private func client(_ stages: [any GraphQLInterceptor]) throws -> ApolloClient {
    ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: Provider(stages: stages), endpointURL: try #require(URL(string: "http://h/")),
        httpTransport: transport))
  }

  private func fetch(_ stages: [any GraphQLInterceptor]) async throws {
    _ = try await client(stages).fetch(query: HeroQuery(), cachePolicy: CachePolicy.networkOnly)
  }

  @Test("the response passes in reverse order, and each stage ends once")
  func order() async throws {
    try await fetch([PassingStage(name: "a", journal: journal), PassingStage(name: "b", journal: journal)])
    #expect(journal.entries.filter { !$0.hasSuffix("ends") } == ["a begins", "b begins", "a next", "b sees"])
    #expect(journal.entries.filter { $0.hasSuffix("ends") }.sorted() == ["a ends", "b ends"])
    #expect(transport.requests.map { $0.headers.values(for: "X-Stage") } == [["a", "b"]])
  }

  @Test("an element that does not pass is read from the pass")
  func notPassing() async throws {
    try await fetch([PassingStage(name: "a", journal: journal, passesElements: false)])
    #expect(journal.entries == ["a begins", "a sees", "a next", "a ends"])
  }

  @Test("stages of all kinds can follow each other")
  func kinds() async throws {
    try await fetch([
      JournalingGraphQL(name: "n", journal: journal), PassingStage(name: "a", journal: journal),
      PassingStage(name: "u", journal: journal, kind: .unfinished), PassingStage(name: "b", journal: journal),
    ])
    #expect(
      journal.entries.filter { !$0.hasSuffix("ends") } == [
        "n pre", "a begins", "u begins", "u continues", "b begins", "a next", "b sees", "n post",
      ])
    #expect(journal.entries.filter { $0.hasSuffix("ends") }.count == 3)
  }

  @Test("an error of a later stage goes through the earlier ones, and the request is not sent")
  func failure() async throws {
    await #expect(throws: Refusal.self) {
      try await fetch([
        PassingStage(name: "a", journal: journal), PassingStage(name: "f", journal: journal, kind: .failing),
        PassingStage(name: "b", journal: journal),
      ])
    }
    #expect(journal.entries == ["a begins", "f begins", "a next", "a error", "a ends"])
    #expect(transport.requests.isEmpty)
  }

  @Test("a stream that is never read ends its stages without a look at an element")
  func dropped() async throws {
    do {
      _ = try client([PassingStage(name: "a", journal: journal)]).results(of: HeroQuery())
    }
    #expect(journal.entries.isEmpty)
  }
}
