import Carabiner
import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Interceptors of the core and of this generation together", .timeLimit(.minutes(2)))
struct StagesTests {
  private let log = Log()
  private let servers = Servers()

  private func service(
    _ stages: any Carabiner.InterceptorProvider,
    _ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in try peer.json(heroJSON) }
  ) throws -> (server: ScriptedServer, transport: CarabinerPipeline.RequestChainNetworkTransport, store: Store1) {
    let server = try servers.start(answer)
    let store = Store1()
    let provider = CarabinerPipeline.DefaultInterceptorProvider(store: store, stages: stages)
    return (
      server,
      CarabinerPipeline.RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: try #require(URL(string: server.origin))), store
    )
  }

  private func fetch(
    _ transport: CarabinerPipeline.RequestChainNetworkTransport, _ policy: Policy1 = .fetchIgnoringCacheData
  ) async -> [String] {
    let results = Results<HeroQuery.Data>()
    _ = transport.send(operation: HeroQuery(), cachePolicy: policy, callbackQueue: .global()) { results.add($0) }
    _ = await eventually { !results.all.isEmpty }
    return results.all.map { result in
      switch result {
      case .success(let value): value.data?.hero.name ?? "nil"
      case .failure(let error): "\(error)"
      }
    }
  }

  @Test("interceptors of the core run around fetch and parser, in the order of a chain of the core", .rule("pipeline.61"))
  func order() async throws {
    let (server, transport, _) = try service(
      Stages(graphQL: [Noted(name: "g1", log: log), Noted(name: "g2", log: log)], http: [NotedHTTP(name: "h1", log: log)]))
    #expect(await fetch(transport) == ["R2"])
    #expect(log.entries == ["g1 pre", "g2 pre", "h1 pre", "h1 post", "g2 post", "g1 post"])
    let request = try #require(server.requests.first)
    #expect(request.header("x-g1") == "1" && request.header("x-h1") == "1")
    #expect(request.headers.filter { $0.name.lowercased() == "accept" }.count == 1)
    #expect(await fetch(transport, .returnCacheDataDontFetch) == ["R2"])
  }

  @Test("a stage changes results, and its error is the error of the call", .rule("pipeline.61", "pipeline.63"))
  func changes() async throws {
    let (_, changing, _) = try service(Stages(graphQL: [Renaming()]))
    #expect(await fetch(changing) == ["C3"])
    let (server, failing, _) = try service(Stages(graphQL: [Failing()]))
    #expect(await fetch(failing) == ["refused"])
    #expect(server.requests.isEmpty)
  }

  @Test("a retry of a stage restarts the 1.x list, with the same stages", .rule("pipeline.61"))
  func retry() async throws {
    let (server, transport, _) = try service(Stages(graphQL: [RetryingOnce(log: log)]))
    #expect(await fetch(transport) == ["R2"])
    #expect(server.requests.count == 2 && log.entries == ["retry"])
  }

  @Test("a stage handles an error of the status check inside it", .rule("pipeline.61"))
  func recovers() async throws {
    let (server, transport, _) = try service(Stages(graphQL: [Recovering()])) { _, peer in
      try peer.json("{}", status: "500 Fault")
    }
    #expect(await fetch(transport) == ["recovered"])
    #expect(server.requests.count == 1)
  }

  @Test("a stage that drops the result of a query makes it end with an error")
  func drops() async throws {
    let (server, transport, _) = try service(Stages(graphQL: [Dropping()]))
    #expect(await fetch(transport).first?.contains("noResults") == true)
    #expect(server.requests.count == 1)
  }

  @Test("a stage for parsing, which would not run, is refused with its name", .rule("pipeline.62"))
  func unusedStage() async throws {
    let (server, transport, _) = try service(OwnParser())
    #expect(await fetch(transport).first?.hasPrefix("the parsing stage own has no place") == true)
    #expect(server.requests.isEmpty)
  }

  @Test("a retry that a stage requests after a result was delivered is an error, and nothing is sent again", .rule("pipeline.61"))
  func lateRetry() async throws {
    let counter = Counter()
    let (server, transport, _) = try service(Stages(graphQL: [], http: [RetriesAtText(text: "second")])) { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      try peer.sendPart(#"{"payload":{"data":{"count":1}}}"#)
      try peer.send("\r\n---\r\nContent-Type: application/json\r\n\r\n")
      while counter.value == 0 { peer.pause(milliseconds: 5) }
      try peer.send(#"{"payload":{"data":{"count":2},"extensions":{"second":1}}}"# + "\r\n-----\r\n")
      peer.close()
    }
    let results = Results<Count.Data>()
    _ = transport.send(operation: Count(), callbackQueue: .global()) { result in
      results.add(result)
      counter.next()
    }
    #expect(await eventually { results.all.count == 2 })
    #expect(try results.all[0].get().data?.count == 1)
    #expect(throws: (any Error).self) { try results.all[1].get() }
    #expect(results.words.last?.contains("after a result was delivered") == true && server.requests.count == 1)
  }

  @Test("the description of the stages names the interceptors around which they run", .rule("pipeline.64"))
  func description() throws {
    let provider = CarabinerPipeline.DefaultInterceptorProvider(store: Store1(), stages: Stages(graphQL: []))
    let list = provider.interceptors(for: HeroQuery()).map { "\($0)" }
    #expect(
      list.contains(
        "stages around [NetworkFetchInterceptor, ResponseCodeInterceptor, MultipartResponseParsingInterceptor, "
          + "JSONResponseParsingInterceptor, AutomaticPersistedQueryInterceptor]"), "\(list)")
  }

  @Test(
    "the whole page of a failure reaches the interceptor of the list, also with stages of the default provider",
    .rule("pipeline.53"))
  func status() async throws {
    let page = String(repeating: "x", count: 9000)
    let (_, transport, _) = try service(Carabiner.DefaultInterceptorProvider.shared) { _, peer in
      try peer.respond("500 Fault", body: page)
    }
    let results = Results<HeroQuery.Data>()
    _ = transport.send(operation: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, callbackQueue: .global()) { results.add($0) }
    #expect(await eventually { !results.all.isEmpty })
    guard case .failure(let error)? = results.all.first,
      case CarabinerPipeline.ResponseCodeInterceptor.ResponseCodeError.invalidResponseCode(_, let body) = error
    else { return #expect(Bool(false), "\(results.words)") }
    #expect(body?.count == 9000)
  }

  @Test("the HTTP interceptors of a client see each request")
  func clientStages() async throws {
    let server = try servers.start { _, peer in try peer.json(heroJSON) }
    let client = CarabinerPipeline.URLSessionClient(
      transport: try Curl(), stages: Stages(graphQL: [], http: [NotedHTTP(name: "h", log: log)]))
    let transport = CarabinerPipeline.RequestChainNetworkTransport(
      interceptorProvider: CarabinerPipeline.DefaultInterceptorProvider(client: client, store: Store1()),
      endpointURL: try #require(URL(string: server.origin)))
    #expect(await fetch(transport) == ["R2"] && log.entries == ["h pre", "h post"])
  }

  // MARK: In a chain of the core

  private func core(_ wrapped: [any Carabiner.GraphQLInterceptor], _ server: ScriptedServer) throws -> Carabiner.ApolloClient {
    Carabiner.ApolloClient(
      networkTransport: Carabiner.RequestChainNetworkTransport(
        interceptorProvider: Stages(graphQL: wrapped), endpointURL: try #require(URL(string: server.origin)),
        httpTransport: try Curl()))
  }

  @Test("a 1.x interceptor before the network adds its header, also after it waited")
  func wrappedBefore() async throws {
    let server = try servers.start { _, peer in try peer.json(heroJSON) }
    let login = Login(token: Token(value: "old", isExpired: true))
    let client = try core([WrappedInterceptor(LoginInterceptor(login: login), at: .beforeNetwork)], server)
    #expect(try await client.fetch(query: HeroQuery()).data?.hero.name == "R2")
    #expect(server.requests.first?.header("Authorization") == "Bearer renewed-1")
  }

  @Test("a 1.x interceptor after the parser sees each result")
  func wrappedAfter() async throws {
    let server = try servers.start { _, peer in try peer.json(heroJSON) }
    let journal = PipelineSamples.Journal()
    let client = try core([WrappedInterceptor(ResponseLogInterceptor(journal: journal), at: .afterParsing)], server)
    #expect(try await client.fetch(query: HeroQuery()).data?.hero.name == "R2")
    #expect(journal.entries == ["status 200", "body \(heroJSON)"])
  }

  @Test("an error, a value, a retry and a let-go of a wrapped interceptor", arguments: ["fail", "give", "retry", "drop"])
  func wrappedOutcomes(outcome: String) async throws {
    let server = try servers.start { _, peer in try peer.json(#"{"data":"x"}"#) }
    let client = try core([WrappedInterceptor(wrappedStep(outcome, log), at: .beforeNetwork)], server)
    func first() async throws -> JSONValue? {
      for try await result in try client.results(of: Anything(), cachePolicy: .networkOnly) { return try result.data }
      return nil
    }
    switch outcome {
    case "give": #expect(try await first() == ["given": 1])
    case "retry":
      _ = try? await first()
      #expect(log.entries.count > 1)
    default:
      let error = await #expect(throws: (any Error).self) { try await first() }
      #expect("\(try #require(error))".contains(outcome == "fail" ? "failed" : "ended without a call"))
    }
    if outcome != "retry" { #expect(server.requests.isEmpty) }
  }
}
