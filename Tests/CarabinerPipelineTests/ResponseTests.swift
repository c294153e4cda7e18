import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Responses of a chain", .timeLimit(.minutes(2)))
struct ResponseTests {
  private typealias Client = CarabinerPipeline.URLSessionClient
  typealias Disposition = CarabinerPipeline.URLSession.ResponseDisposition

  @Test("a subclass of URLSessionClient that answers itself never touches the network", .rule("pipeline.50"))
  func canned() async throws {
    let head = HTTPURLResponse(url: URL(filePath: "/"), statusCode: 200)
    let service = try Service(client: CannedClient(answer: .success((Data(heroJSON.utf8), head))))
    #expect(await service.fetch() == ["server R2"])
    let failing = try Service(client: CannedClient(answer: .failure(Fault("canned"))))
    #expect(await failing.fetch() == ["canned"])
    #expect(service.server.connections + failing.server.connections == 0)
  }

  @Test(
    "a client sends one request, and the raw completion comes before the last completion", .rule("pipeline.50", "pipeline.52"))
  func client() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let (log, client) = (Log(), Client())
    let request = CarabinerPipeline.URLRequest(url: try #require(URL(string: server.origin)), httpBody: Data("{}".utf8))
    client.sendRequest(
      request, rawTaskCompletionHandler: { data, head, _ in log.note("raw \(data?.count ?? 0) \(head?.statusCode ?? 0)") },
      completion: { result in log.note("completion \((try? result.get().0.count) ?? 0)") })
    #expect(await eventually { log.entries.count == 2 })
    #expect(log.entries == ["raw \(heroJSON.utf8.count) 200", "completion \(heroJSON.utf8.count)"])
  }

  @Test("cancelling a task by its client is silent; the task itself completes with a network error", .rule("pipeline.50"))
  func cancelledTasks() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let (log, client) = (Log(), Client())
    let request = CarabinerPipeline.URLRequest(url: try #require(URL(string: server.origin)), httpBody: Data("{}".utf8))
    let silent = client.sendRequest(request) { _ in log.note("silent") }
    let loud = client.sendRequest(request) { result in
      if case .failure(Client.URLSessionClientError.networkError(_, _, let cause)) = result { log.note("\(cause)") }
    }
    #expect(await eventually { server.requests.count == 2 })
    client.cancel(task: silent)
    loud.cancel()
    #expect(await eventually { log.entries == ["CancellationError()"] && server.hangUps == 2 })
    #expect(loud.state != .running)
  }

  @Test(
    "three results of a multipart subscription pass the list in order, and its end is silent", .rule("pipeline.51", "pipeline.59")
  )
  func subscription() async throws {
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      for count in 1...3 { try peer.sendPart(#"{"payload":{"data":{"count":\#(count)}}}"#) }
      try peer.send("\r\n-----\r\n")
    }
    let (log, results) = (Log(), Results<Count.Data>())
    service.provider.last = [Noting(log: log)]
    let call = service.client.subscribe(subscription: Count(), queue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 3 })
    #expect(results.all.compactMap { try? $0.get().data?.count } == [1, 2, 3])
    #expect(log.entries == (1...3).map { #"{"data":{"count":\#($0)}}"# })
    await service.settle()
    #expect(results.all.count == 3)
    withExtendedLifetime(call) {}
  }

  @Test(
    "three results pass five interceptors each, in order, through a list without MultipartResponseParsingInterceptor",
    .rule("pipeline.51"))
  func wholeList() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
        for count in 1...3 { try peer.sendPart(#"{"payload":{"data":{"count":\#(count)}}}"#) }
        try peer.send("\r\n-----\r\n")
        peer.close()
      })
    let (log, store, results) = (Log(), ApolloStore(), Results<Count.Data>())
    func note(_ name: String) -> ForAll { ForAll { _ in log.note(name) } }
    let chain = InterceptorRequestChain(
      interceptors: [
        MaxRetryInterceptor(), CacheReadInterceptor(store: store), NetworkFetchInterceptor(client: Client()), note("1"),
        ResponseCodeInterceptor(), note("2"), JSONResponseParsingInterceptor(), note("3"), AutomaticPersistedQueryInterceptor(),
        note("4"), CacheWriteInterceptor(store: store), note("5"),
      ], callbackQueue: .global())
    let request = JSONRequest(
      operation: Count(), graphQLEndpoint: try #require(URL(string: server.origin)), clientName: "", clientVersion: "")
    chain.kickoff(request: request) { results.add($0) }
    #expect(await eventually { results.all.count == 3 })
    #expect(results.all.compactMap { try? $0.get().data?.count } == [1, 2, 3])
    #expect(log.entries == ["1", "2", "3", "4", "5", "1", "2", "3", "4", "5", "1", "2", "3", "4", "5"])
  }

  @Test("a subscription that ends without a value is an error", .rule("pipeline.59"))
  func emptySubscription() async throws {
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      try peer.send("\r\n-----\r\n")
    }
    let results = Results<Count.Data>()
    _ = service.client.subscribe(subscription: Count(), queue: service.queue) { results.add($0) }
    #expect(await results.words(1).first?.contains("noResults") == true)
  }

  @Test(
    "the next result enters only when the one before has gone, so none overtakes an interceptor that waits",
    .rule("pipeline.15", "pipeline.16"))
  func turns() async throws {
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      for count in 1...5 { try peer.sendPart(#"{"payload":{"data":{"count":\#(count)}}}"#) }
      try peer.send("\r\n-----\r\n")
    }
    let results = Results<Count.Data>()
    service.provider.last = [Waiting()]
    _ = service.client.subscribe(subscription: Count(), queue: .global()) { results.add($0) }
    #expect(await eventually { results.all.count == 5 })
    #expect(results.all.compactMap { try? $0.get().data?.count } == [1, 2, 3, 4, 5])
  }

  @Test("deferred parts are merged with what came before", .rule("pipeline.51"))
  func deferred() async throws {
    let service = try Service { _, peer in
      try peer.sendParts()
      try peer.sendPart(#"{"data":{"hero":{"__typename":"Droid","id":"1","name":"R2"}},"hasNext":true}"#)
      try peer.sendPart(#"{"incremental":[{"data":{"age":33},"path":["hero"]}],"hasNext":false}"#)
      try peer.send("\r\n-----\r\n")
    }
    let log = Log()
    service.provider.last = [Noting(log: log)]
    #expect(await service.fetch(results: 2) == ["server R2", "server R2"])
    #expect(log.entries.last?.contains(#""age":33"#) == true)
  }

  @Test("a response in parts without a boundary is an error", .rule("pipeline.51"))
  func noBoundary() async throws {
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed")
    }
    #expect(await service.fetch().first?.contains("missingBoundary") == true)
  }

  @Test("a response with status 500 and HTML gives an error with the whole page", .rule("pipeline.53"))
  func wholePage() async throws {
    let page = "<html>" + String(repeating: "x", count: 20_000) + "</html>"
    let service = try Service { _, peer in try peer.respond("500 Fault", headers: "Content-Type: text/html\r\n", body: page) }
    let results = service.fetching()
    _ = await service.words(results, 1)
    guard
      case .failure(ResponseCodeInterceptor.ResponseCodeError.invalidResponseCode(let head, let body)) = try #require(
        results.all.first)
    else { return #expect(Bool(false), "\(results.words)") }
    #expect(head?.statusCode == 500 && body == Data(page.utf8))
  }

  @Test("the error of a body that is one GraphQL error can be read", .rule("pipeline.53"))
  func graphQLError() {
    typealias CodeError = ResponseCodeInterceptor.ResponseCodeError
    #expect(CodeError.invalidResponseCode(response: nil, rawData: Data(#"{"message":"no"}"#.utf8)).graphQLError?.message == "no")
    #expect(CodeError.invalidResponseCode(response: nil, rawData: Data("<html>".utf8)).graphQLError == nil)
  }

  @Test(
    "a body that cannot be parsed is an error", .rule("pipeline.54", "pipeline.55"),
    arguments: [
      ("200 OK", "", "has no body"), ("500 Fault", "", "answered with status 500"), ("200 OK", "[]", "not a JSON object"),
      ("200 OK", "{\"data\":", "not a JSON object"), ("200 OK", #"{"data":1}"#, "notAGraphQLResponse"),
      ("200 OK", #"{"data":{"hero":1}}"#, "dataMismatch"),
      ("200 OK", #"{"data":"# + String(repeating: "[", count: 100_000), "not a JSON object"),
    ])
  func unparsable(status: String, body: String, error: String) async throws {
    let service = try Service { _, peer in try peer.json(body, status: status) }
    let words = await service.fetch()
    #expect(words.first?.contains(error) == true, "\(words)")
  }

  @Test("errors without data are a success without data, and the media type does not matter", .rule("pipeline.54"))
  func errorsOnly() async throws {
    let service = try Service { _, peer in
      try peer.respond(headers: "Content-Type: text/plain\r\n", body: #"{"errors":[{"message":"no"}],"extensions":{"a":1}}"#)
    }
    let results = service.fetching()
    #expect(await service.words(results, 1) == ["server nil"])
    let value = try #require(try results.all.first?.get())
    #expect(value.errors?.first?.message == "no" && value.extensions == ["a": 1])
    #expect(value.asJSONDictionary()["extensions"]?["a"]?.int == 1)
  }

  @Test("a parser or a status check in front of the network is an error", .rule("pipeline.54"))
  func noResponse() async {
    for (interceptor, text) in [
      (JSONResponseParsingInterceptor() as any ApolloInterceptor, "there is no response to parse"),
      (ResponseCodeInterceptor(), "there is no response yet"), (CacheWriteInterceptor(store: ApolloStore()), "has no response"),
    ] {
      let call = TestCall([interceptor]).start()
      #expect(await call.results.words(1).first?.contains(text) == true)
    }
  }

  @Test("a transport failure is a network error with what had arrived", .rule("pipeline.56"))
  func broken() async throws {
    let service = try Service { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"data\"")
      peer.reset()
    }
    let results = service.fetching()
    _ = await service.words(results, 1)
    guard
      case .failure(Client.URLSessionClientError.networkError(_, let head, let cause)) = try #require(results.all.first)
    else { return #expect(Bool(false), "\(results.words)") }
    #expect(cause is TransportError && (head == nil || head?.statusCode == 200))
  }

  @Test(
    "after invalidate() a request fails at once; a provider invalidates its client when its requests have ended",
    .rule("pipeline.57"))
  func invalidated() async throws {
    let client = Client()
    client.invalidate()
    let service = try Service(client: client)
    #expect(await service.fetch().first?.hasPrefix("the client was invalidated") == true)
    let owned = Client()
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let results = Results<HeroQuery.Data>()
    do {
      let transport = RequestChainNetworkTransport(
        interceptorProvider: DefaultInterceptorProvider(client: owned, store: ApolloStore()),
        endpointURL: try #require(URL(string: server.origin)))
      _ = transport.send(operation: HeroQuery(), cachePolicy: .default, callbackQueue: .global()) { results.add($0) }
    }
    #expect(await eventually { (try? results.all.first?.get().data?.hero.name) == "R2" })
    let log = Log()
    #expect(
      await eventually {
        owned.sendRequest(CarabinerPipeline.URLRequest(url: URL(filePath: "/"))) { result in
          if case .failure(Client.URLSessionClientError.sessionInvalidated) = result { log.note("invalidated") }
        }
        return !log.entries.isEmpty
      })
  }

  @Test("a client decides about a response when its head arrives", arguments: [.allow, .cancel, nil] as [Disposition?])
  func disposition(_ disposition: Disposition?) async throws {
    let journal = Journal()
    let service = try Service(client: ObservedClient(journal: journal, disposition: disposition))
    let word = try #require(await service.fetch().first)
    #expect(word == (disposition == .allow ? "server R2" : "the transfer failed: CancellationError()"))
    #expect(await eventually { journal.entries == ["observed 200", "cleared"] })
  }

  @Test("completions and methods of a client run on its callback queue, in order")
  func callbackQueue() async throws {
    let queue = OperationQueue()
    let (journal, log) = (Journal(), Log())
    let client = ObservedClient(journal: journal, disposition: .allow, callbackQueue: queue)
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let request = CarabinerPipeline.URLRequest(url: try #require(URL(string: server.origin)))
    client.sendRequest(request) { result in
      log.note("\(OperationQueue.current === queue) \((try? result.get().1.statusCode) ?? 0)")
    }
    #expect(await eventually { log.entries == ["true 200"] })
  }

  @Test("the fields that a result depends on are known for results of the server and of the store")
  func dependentKeys() async throws {
    let service = try Service()
    for key in [nil, "r2"] as [String?] {
      if let key { service.store.cacheKeyForObject = { _ in .string(key) } }
      let name = key ?? "Droid:1"
      let fields: Set = ["QUERY_ROOT.hero", "\(name).__typename", "\(name).id", "\(name).name"]
      for policy in [CachePolicy.fetchIgnoringCacheData, .returnCacheDataDontFetch] {
        let result = try await service.client.fetch(query: HeroQuery(), cachePolicy: policy)
        #expect(result.dependentKeys == fields)
      }
    }
  }

  @Test("cancelling aborts the transfer", .rule("pipeline.30"))
  func aborted() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: ApolloStore()),
      endpointURL: try #require(URL(string: server.origin)))
    let results = Results<HeroQuery.Data>()
    let call = transport.send(operation: HeroQuery(), callbackQueue: .global()) { results.add($0) }
    #expect(await eventually { server.requests.count == 1 })
    call.cancel()
    #expect(await eventually { server.hangUps == 1 })
    #expect(results.all.isEmpty)
  }

  @TaskLocal private static var caller = "nobody"

  @Test("task-locals of the caller are seen beyond the network")
  func taskLocals() async throws {
    let service = try Service()
    let log = Log()
    service.provider.last = [ForAll { _ in log.note(Self.caller) }]
    let results = Self.$caller.withValue("caller") { service.fetching() }
    #expect(await service.words(results, 1) == ["server R2"] && log.entries == ["caller"])
  }
}

/// Notes the raw data of each response.
struct Noting: ApolloInterceptor {
  let log: Log

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    log.note(response.map { String(decoding: $0.rawData, as: UTF8.self) } ?? "none")
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

/// Proceeds on another thread, sooner with each result.
final class Waiting: ApolloInterceptor {
  private var delay = 20

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    delay /= 2
    let proceed = Sent { chain.proceedAsync(request: request, response: response, completion: completion) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { proceed.value() }
  }
}
