import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Requests, cache and stages of HTTPNetworkTransport", .timeLimit(.minutes(2)))
struct DelegatedRequestTests {
  @Test("identifiers take the place of documents, the hash of the document where there is none", .rule("delegate.17"))
  func identifiers() async throws {
    let service = try DelegateService(make: { HTTPNetworkTransport(url: $0, sendOperationIdentifiers: true, delegate: $1) })
    #expect(await service.fetch() == ["server R2"])
    let results = Results<JSONValue>()
    service.client.fetch(query: Named(), cachePolicy: .fetchIgnoringCacheCompletely, queue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    let requests = service.server.requests
    let bodies = requests.compactMap(\.json)
    #expect(bodies.allSatisfy { $0["query"] == nil } && bodies.count == 2)
    #expect(bodies[0]["id"]?.string?.count == 64 && bodies[1]["id"]?.string == "named-1")
    #expect(requests[0].header("X-APOLLO-OPERATION-ID") == nil && requests[1].header("X-APOLLO-OPERATION-ID") == "named-1")
  }

  @Test("queries go by GET with the endpoint's own items and all fields, mutations by POST", .rule("delegate.18", "delegate.19"))
  func get() async throws {
    let service = try DelegateService(
      path: "/graphql?tenant=a%2Bb", make: { HTTPNetworkTransport(url: $0, useGETForQueries: true, delegate: $1) })
    service.transport.clientName = "shop"
    service.transport.clientVersion = "3"
    #expect(await service.fetch() == ["server R2"])
    let results = Results<Rename.Data>()
    service.client.perform(mutation: Rename(), queue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    let requests = service.server.requests
    #expect(requests.map(\.method) == ["GET", "POST"])
    #expect(requests[0].target.hasPrefix("/graphql?tenant=a%2Bb&") && requests[0].target.contains("query=query"))
    for request in requests {
      #expect(request.header("apollographql-client-name") == "shop" && request.header("apollographql-client-version") == "3")
      #expect(request.header("X-APOLLO-OPERATION-NAME") != nil && request.header("Accept")?.contains("application/json") == true)
    }
  }

  @Test(
    "each row of the table of methods and documents", .rule("delegate.20"),
    arguments: [
      (false, false, ["POST hash", "POST both"]), (true, false, ["GET hash", "POST both"]),
      (true, true, ["GET hash", "GET both"]), (false, true, ["GET hash", "GET both"]),
    ] as [(Bool, Bool, [String])])
  func methods(_ get: Bool, _ getForRetry: Bool, _ expected: [String]) async throws {
    let service = try DelegateService(
      answers: [(status: "200 OK", body: #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)],
      make: { url, _ in
        HTTPNetworkTransport(
          url: url, useGETForQueries: get, enableAutoPersistedQueries: true, useGETForPersistedQueryRetry: getForRetry)
      })
    #expect(await service.fetch() == ["server R2"])
    let sent = service.server.requests.map { request in
      let text = request.target + String(decoding: request.body, as: UTF8.self)
      return "\(request.method) \(text.contains("__typename") ? "both" : "hash")"
    }
    #expect(sent == expected)
  }

  @Test(
    "a hash may be refused with a status of 400, and another error with it stays an error", .rule("delegate.20"),
    arguments: [true, false])
  func refusedWithStatus(isRefusal: Bool) async throws {
    let message = isRefusal ? "PersistedQueryNotFound" : "no"
    let service = try DelegateService(
      answers: [(status: "400 Bad Request", body: #"{"errors":[{"message":"\#(message)"}]}"#)],
      make: { url, _ in HTTPNetworkTransport(url: url, enableAutoPersistedQueries: true) })
    let words = await service.fetch()
    #expect((words == ["server R2"]) == isRefusal, "\(words)")
    #expect(service.server.requests.count == (isRefusal ? 2 : 1))
  }

  @Test("the five cache policies over this transport", .rule("delegate.23"))
  func policies() async throws {
    let service = try DelegateService()
    let miss = await service.fetch(.returnCacheDataDontFetch)
    #expect(miss.first?.hasPrefix("the store does not have the result of Hero") == true)
    #expect(await service.fetch(.fetchIgnoringCacheCompletely) == ["server R2"])
    #expect(await service.fetch(.returnCacheDataDontFetch) == miss)
    #expect(await service.fetch(.fetchIgnoringCacheData) == ["server R2"])
    #expect(await service.fetch(.returnCacheDataDontFetch) == ["cache R2"])
    #expect(await service.fetch(.returnCacheDataElseFetch) == ["cache R2"])
    #expect(await service.fetch(.returnCacheDataAndFetch, results: 2) == ["cache R2", "server R2"])
    #expect(service.server.requests.count == 3)
  }

  @Test("a retry after a cached value does not deliver it again", .rule("delegate.13"))
  func cachedOnce() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let counter = Counter()
    let service = try DelegateService(recorder) { _, peer in
      guard counter.next() != 2 else { return try peer.json("", status: "503 Down") }
      try peer.json(heroJSON)
    }
    #expect(await service.fetch(.returnCacheDataElseFetch) == ["server R2"])
    #expect(await service.fetch(.returnCacheDataAndFetch, results: 2) == ["cache R2", "server R2"])
    await service.settle()
    #expect(recorder.log.entries.filter { $0 == "result" }.count == 3 && service.server.requests.count == 3)
  }

  @Test("a store that cannot be written costs nothing but a log line", .rule("delegate.23"))
  func failingStore() async throws {
    let service = try DelegateService(store: Store1(cache: FullCache()))
    #expect(await service.fetch(.returnCacheDataElseFetch) == ["server R2"])
  }

  @Test("a watcher over this transport hears of another query's change and not of its own fetch", .rule("delegate.23"))
  func watcher() async throws {
    let counter = Counter()
    let service = try DelegateService { _, peer in
      try peer.json(#"{"data":{"hero":{"__typename":"Droid","id":"1","name":"R\#(counter.next())"}}}"#)
    }
    let results = Results<HeroQuery.Data>()
    let watcher = service.client.watch(query: HeroQuery(), callbackQueue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    #expect(await service.fetch() == ["server R2"])
    #expect(await eventually { results.all.count == 2 })
    #expect(results.outcomes == ["server R1", "cache R2"])
    watcher.cancel()
  }

  @Test("the form without cache gives the response of the server, and a subscription is refused", .rule("delegate.28"))
  func plainForm() async throws {
    let service = try DelegateService()
    let names = Log()
    service.transport.send(operation: HeroQuery()) { result in names.note((try? result.get().data?.hero.name) ?? "error") }
    _ = service.client.subscribe(subscription: Count(), queue: service.queue) { result in
      if case .failure(let error) = result { names.note("\(error)".contains("invalidRequest") ? "refused" : "\(error)") }
    }
    #expect(await eventually { Set(names.entries) == ["R2", "refused"] })
    #expect(service.server.requests.count == 1)
  }

  @Test("a header of a stage is there when willSend looks, and willSend may take it away", .rule("delegate.4"))
  func stageHeader() async throws {
    let log = Log()
    let recorder = Recorder()
    recorder.willSend = { request in
      log.note(
        "willSend \(request.value(forHTTPHeaderField: "x-h1") ?? "none") \(request.value(forHTTPHeaderField: "x-g1") ?? "none")")
      request.setValue(nil, forHTTPHeaderField: "x-h1")
    }
    let stages = Stages(graphQL: [Noted(name: "g1", log: log)], http: [NotedHTTP(name: "h1", log: log)])
    let service = try DelegateService(recorder, make: { HTTPNetworkTransport(url: $0, delegate: $1, stages: stages) })
    #expect(await service.fetch() == ["server R2"])
    #expect(log.entries == ["g1 pre", "h1 pre", "willSend 1 1", "h1 post", "g1 post"])
    let request = try #require(service.server.requests.first)
    #expect(request.header("x-h1") == nil && request.header("x-g1") == "1")
  }

  @Test(
    "a retry of a stage passes preflight again, and a stage sees an error status before the delegate is asked",
    .rule("delegate.1"))
  func stageRetry() async throws {
    let log = Log()
    let recorder = Recorder()
    let service = try DelegateService(
      recorder, answers: [("503 Down", "")],
      make: {
        HTTPNetworkTransport(
          url: $0, delegate: $1, stages: Stages(graphQL: [RetryingOnce(log: log)], http: [RetriesUnavailable(log: log)]))
      })
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.count == 3 && log.entries == ["503", "200", "retry", "200"])
    #expect(recorder.log.entries.filter { $0 == "shouldSend" }.count == 3 && !recorder.log.entries.contains("retry?"))
  }

  @Test("a client of the 1.x generation sends in place of the session, and one that answers itself is the network")
  func overClient() async throws {
    let service = try DelegateService(make: { HTTPNetworkTransport(url: $0, client: URLSessionClient(), delegate: $1) })
    #expect(await service.fetch() == ["server R2"])
    #expect(service.recorder.log.entries == ["shouldSend", "willSend", "raw 200 \(heroJSON.utf8.count)", "result"])
    let url = try #require(URL(string: "http://a.test"))
    let canned = CannedClient(answer: .success((Data(heroJSON.utf8), HTTPURLResponse(url: url, statusCode: 200))))
    let alone = try DelegateService(make: { HTTPNetworkTransport(url: $0, client: canned, delegate: $1) })
    #expect(await alone.fetch() == ["server R2"])
    #expect(alone.server.connections == 0)
    let silent = try DelegateService(make: { url, _ in HTTPNetworkTransport(url: url, client: SilentClient()) })
    #expect(await silent.fetch().first?.contains("released its completion") == true)
  }

  @Test("a delegate in a chain of the core is asked as in its own transport")
  func inCore() async throws {
    let recorder = Recorder()
    let renewed = Counter()
    recorder.willSend = { $0.setValue("\(renewed.next())", forHTTPHeaderField: "Authorization") }
    recorder.retry = { _, _, _, answer in answer(true) }
    let service = try DelegateService(recorder, answers: [("401 Unauthorized", "")])
    let name = try await coreHeroName(asking: service.transport, over: try Curl())
    #expect(name == "R2" && service.server.requests.map { $0.header("Authorization") } == ["1", "2"])
    #expect(recorder.log.entries.filter { $0 == "retry?" }.count == 1)
  }

  @Test("task-locals of the caller are visible in the delegate's methods and in the callback")
  func taskLocals() async throws {
    let recorder = Recorder()
    let log = recorder.log
    recorder.willSend = { _ in log.note("caller \(Caller.name)") }
    let service = try DelegateService(recorder)
    let results = Caller.$name.withValue("here") {
      let results = Results<HeroQuery.Data>()
      service.client.fetch(query: HeroQuery(), queue: service.queue) { result in
        log.note("callback \(Caller.name)")
        results.add(result)
      }
      return results
    }
    #expect(await eventually { results.all.count == 1 })
    #expect(log.entries.filter { $0.contains("here") } == ["caller here", "callback here"])
  }
}

private enum Caller {
  @TaskLocal static var name = "nobody"
}

/// A query with an identifier of its own.
private struct Named: GraphQLQuery, IdentifiedOperation {
  typealias Data = JSONValue

  var operationName: String? { "Named" }
  var document: String { "query Named { a }" }
  var operationIdentifier: String? { "named-1" }
}

/// A cache that cannot be written.
private struct FullCache: NormalizedCache {
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { [:] }
  func merge(records: RecordSet) async throws -> ChangedKeys { throw Fault("full") }
  func removeRecord(for key: String) async throws {}
  func keys(matching pattern: String?) async throws -> [String] { [] }
  func clear() async throws {}
}

/// A client that forgets to answer.
private final class SilentClient: URLSessionClient {
  override func sendRequest(
    _ request: URLRequest, taskDescription: String? = nil, rawTaskCompletionHandler: RawCompletion? = nil,
    completion: @escaping Completion
  ) -> URLSessionTask { URLSessionTask() }
}
