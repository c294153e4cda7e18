import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("The store of a 1.x client", .timeLimit(.minutes(2)))
struct CacheTests {
  /// The results of a policy with a full and with an empty store, and how many requests were sent for each.
  static let policies: [(CarabinerPipeline.CachePolicy, full: [String], sent: Int, empty: String, sentOnMiss: Int)] = [
    (.returnCacheDataElseFetch, ["cache R2"], 0, "server R2", 1),
    (.returnCacheDataAndFetch, ["cache R2", "server R2"], 1, "server R2", 1),
    (.returnCacheDataDontFetch, ["cache R2"], 0, "the store does not have", 0),
    (.fetchIgnoringCacheData, ["server R2"], 1, "server R2", 1),
    (.fetchIgnoringCacheCompletely, ["server R2"], 1, "server R2", 1),
  ]

  @Test("each row of the cache policy table, against a server", .rule("pipeline.35"), arguments: 0..<5)
  func table(index: Int) async throws {
    let row = Self.policies[index]
    let service = try Service()
    let missed = await service.fetch(row.0)
    #expect(missed.first?.hasPrefix(row.empty) == true && service.server.requests.count == row.sentOnMiss)
    let isWritten = row.0 != .fetchIgnoringCacheCompletely && row.sentOnMiss == 1
    #expect(await service.fetch(.returnCacheDataDontFetch).first?.hasPrefix("cache") == isWritten)
    _ = await service.fetch()
    let before = service.server.requests.count
    #expect(await service.fetch(row.0, results: row.full.count) == row.full)
    #expect(service.server.requests.count == before + row.sent)
  }

  @Test("a query that may only be read from the cache is not sent by a list that reads no cache", .rule("pipeline.35"))
  func neverSent() async throws {
    let service = try Service()
    let list: [any ApolloInterceptor] = [NetworkFetchInterceptor(client: URLSessionClient())]
    let results = Results<HeroQuery.Data>()
    let chain = InterceptorRequestChain(interceptors: list, callbackQueue: service.queue)
    let request = service.transport.constructRequest(for: HeroQuery(), cachePolicy: .returnCacheDataDontFetch)
    chain.kickoff(request: request) { results.add($0) }
    #expect(await results.words(1).first?.hasPrefix("the store does not have") == true)
    #expect(service.server.connections == 0)
  }

  @Test("the result can be read from the store inside its own handler", .rule("pipeline.36"))
  func readInHandler() async throws {
    let service = try Service()
    let results = Results<HeroQuery.Data>()
    let store = service.store
    service.client.fetch(query: HeroQuery(), queue: service.queue) { _ in
      store.load(HeroQuery(), callbackQueue: .global()) { results.add($0) }
    }
    #expect(await service.words(results, 1) == ["cache R2"])
  }

  @Test("a write that fails is counted, and the result goes on", .rule("pipeline.36"))
  func failingWrite() async throws {
    let store = ApolloStore(cache: FailingCache())
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: try #require(URL(string: server.origin)))
    let results = Results<HeroQuery.Data>()
    _ = transport.send(operation: HeroQuery(), callbackQueue: .global()) { results.add($0) }
    #expect(await eventually { (try? results.all.first?.get().data?.hero.name) == "R2" })
    #expect(store.writeFailures == 1)
  }

  @Test("a mutation whose result is not published leaves the store alone", .rule("pipeline.37"), arguments: [true, false])
  func unpublished(isPublished: Bool) async throws {
    let service = try Service { request, peer in
      try peer.json(
        request.header("X-APOLLO-OPERATION-NAME") == "Rename"
          ? #"{"data":{"rename":{"__typename":"Droid","id":"1","name":"C3"}}}"# : heroJSON)
    }
    #expect(await service.fetch() == ["server R2"])
    let results = Results<Rename.Data>()
    service.client.perform(mutation: Rename(), publishResultToStore: isPublished, queue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    #expect(await service.fetch(.returnCacheDataDontFetch) == ["cache \(isPublished ? "C3" : "R2")"])
  }

  @Test("a value of the cache is not delivered again by a retry, unless the cache policy was changed", .rule("pipeline.19"))
  func notTwice() async throws {
    let service = try Service { request, peer in
      let isFirst = request.header("X-Again") == nil
      if isFirst { try peer.json("{}", status: "503 Busy") } else { try peer.json(heroJSON) }
    }
    try await service.store.core.write(
      ["hero": ["__typename": "Droid", "id": "1", "name": "old"]], for: HeroQuery())
    service.provider.errors = RetryOnce()
    #expect(await service.fetch(.returnCacheDataAndFetch, results: 2) == ["cache old", "server R2"])
    await service.settle()
  }

  @Test("the additional error interceptor turns a 401 into a retry from the cache alone", .rule("pipeline.26"))
  func offline() async throws {
    let service = try Service { _, peer in try peer.json("{}", status: "401 No") }
    try await service.store.core.write(
      ["hero": ["__typename": "Droid", "id": "1", "name": "old"]], for: HeroQuery())
    service.provider.errors = FromCache()
    #expect(await service.fetch() == ["cache old"])
  }

  // MARK: Watchers

  @Test(
    "a watcher hears of another writer's change, from the cache, and not of its own fetch or of equal values",
    .rule("pipeline.38"))
  func watcher() async throws {
    let service = try Service()
    let results = Results<HeroQuery.Data>()
    let watcher = service.client.watch(query: HeroQuery(), callbackQueue: service.queue) { results.add($0) }
    #expect(await service.words(results, 1) == ["server R2"])
    try await service.store.core.write(["hero": ["__typename": "Droid", "id": "1", "name": "C3"]], for: HeroQuery())
    #expect(await service.words(results, 2) == ["server R2", "cache C3"])
    try await service.store.core.write(["hero": ["__typename": "Droid", "id": "1", "name": "C3"]], for: HeroQuery())
    watcher.refetch()
    #expect(await service.words(results, 3) == ["server R2", "cache C3", "server R2"])
    await service.settle()
    #expect(results.all.count == 3)
    watcher.cancel()
    try await service.store.core.write(["hero": ["__typename": "Droid", "id": "1", "name": "X"]], for: HeroQuery())
    await service.settle()
    #expect(results.all.count == 3)
  }

  /// Changes the store after a result was written, and before it is delivered.
  private struct ChangeAfterWrite: ApolloInterceptor {
    let store: ApolloStore

    func interceptAsync<Operation: GraphQLOperation>(
      chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
      completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
    ) {
      store.withinReadWriteTransaction(
        { try await $0.write(["hero": ["__typename": "Droid", "id": "1", "name": "C3"]], for: HeroQuery()) },
        callbackQueue: .global(),
        completion: { _ in chain.proceedAsync(request: request, response: response, completion: completion) })
    }
  }

  @Test("a change between the write of a fetch and its callback is delivered after it, for each fetch", .rule("pipeline.38"))
  func changeDuringFetch() async throws {
    let service = try Service()
    service.provider.last = [ChangeAfterWrite(store: service.store)]
    let results = Results<HeroQuery.Data>()
    let watcher = service.client.watch(query: HeroQuery(), callbackQueue: service.queue) { results.add($0) }
    // The read that the change itself begins is under way when the result arrives, or before, or after it.
    for round in 0..<50 {
      if round > 0 { watcher.refetch() }
      let words = await service.words(results, 2 * round + 2)
      #expect(words.suffix(2) == ["server R2", "cache C3"])
      guard words.count == 2 * round + 2 else { break }
    }
    watcher.cancel()
  }

  @Test("if a change leaves something missing, the watcher fetches", .rule("pipeline.38"), arguments: [true, false])
  func refetch(fetches: Bool) async throws {
    let service = try Service()
    let results = Results<HeroQuery.Data>()
    let watcher = service.client.watch(
      query: HeroQuery(), refetchOnFailedUpdates: fetches, callbackQueue: service.queue
    ) { results.add($0) }
    #expect(await service.words(results, 1) == ["server R2"])
    try await service.store.core.removeObject(for: "Droid:1")
    if fetches {
      #expect(await service.words(results, 2) == ["server R2", "server R2"])
    } else {
      _ = await service.fetch(.returnCacheDataDontFetch)
      await service.settle()
      #expect(results.all.count == 1 && service.server.requests.count == 1)
    }
    watcher.cancel()
  }

  @Test("clearing the cache alone does not make a watcher fetch, and the store does not keep a watcher", .rule("pipeline.38"))
  func cleared() async throws {
    let service = try Service()
    let results = Results<HeroQuery.Data>()
    weak var watched: GraphQLQueryWatcher<HeroQuery>?
    do {
      let watcher = service.client.watch(query: HeroQuery(), callbackQueue: service.queue) { results.add($0) }
      #expect(await service.words(results, 1) == ["server R2"])
      let done = Log()
      service.client.clearCache(callbackQueue: service.queue) { _ in done.note("cleared") }
      #expect(await eventually { done.entries == ["cleared"] })
      await service.settle()
      #expect(results.all.count == 1 && service.server.requests.count == 1)
      watched = watcher
    }
    #expect(await eventually { watched == nil })
  }

  // MARK: The store itself

  @Test("loading what is not there is a miss, and clearCache completes after it happened", .rule("pipeline.39", "pipeline.60"))
  func loading() async throws {
    let service = try Service()
    #expect(await service.fetch() == ["server R2"])
    let results = Results<HeroQuery.Data>()
    let store = service.store
    service.client.clearCache(callbackQueue: service.queue) { _ in
      store.load(HeroQuery(), callbackQueue: .global()) { results.add($0) }
    }
    #expect(await results.words(1).first?.hasPrefix("the store does not have") == true)
  }

  @Test("the key function of the store names its records")
  func keyFunction() async throws {
    let service = try Service()
    service.store.cacheKeyForObject = { $0["id"] }
    #expect(service.store.cacheKeyForObject != nil)
    #expect(await service.fetch() == ["server R2"])
    let keys = try await service.store.core.withinReadTransaction { try await $0.keys() }
    #expect(keys.contains("1") && !keys.contains("Droid:1"))
  }

  @Test("subscribers get the changed fields and the identifier of the request; transactions run and complete")
  func subscribers() async throws {
    let service = try Service()
    let (subscriber, identifier) = (Subscriber(), UUID())
    service.store.subscribe(subscriber)
    let results = Results<HeroQuery.Data>()
    service.client.fetch(
      query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, contextIdentifier: identifier, queue: service.queue
    ) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    #expect(subscriber.log.entries == ["\(identifier) Droid:1.__typename,Droid:1.id,Droid:1.name,QUERY_ROOT.hero"])
    service.store.unsubscribe(subscriber)
    let log = Log()
    service.store.withinReadWriteTransaction(
      { try await $0.removeObject(for: "Droid:1") }, callbackQueue: service.queue, completion: { _ in log.note("written") })
    #expect(await eventually { log.entries == ["written"] })
    service.store.withinReadTransaction(
      { try await $0.keys().count }, callbackQueue: service.queue,
      completion: { result in log.note("\((try? result.get()) ?? -1)") })
    #expect(await eventually { log.entries == ["written", "1"] })
    #expect(subscriber.log.entries.count == 1)
  }
}

/// Notes changes.
private final class Subscriber: ApolloStoreSubscriber {
  let log = Log()

  func store(_ store: CarabinerPipeline.ApolloStore, didChangeKeys changedKeys: Set<CacheKey>, contextIdentifier: UUID?) {
    log.note("\(contextIdentifier.map { "\($0)" } ?? "none") \(changedKeys.sorted().joined(separator: ","))")
  }
}

/// A cache that cannot be written.
private struct FailingCache: NormalizedCache {
  func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { [:] }
  func merge(records: RecordSet) async throws -> ChangedKeys { throw Fault("full") }
  func removeRecord(for key: String) async throws {}
  func keys(matching pattern: String?) async throws -> [String] { [] }
  func clear() async throws {}
}

/// Answers an error from the cache.
private struct FromCache: ApolloErrorInterceptor {
  func handleErrorAsync<Operation: CarabinerPipeline.GraphQLOperation>(
    error: any Error, chain: any CarabinerPipeline.RequestChain, request: HTTPRequest<Operation>,
    response: CarabinerPipeline.HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    request.cachePolicy = .returnCacheDataDontFetch
    chain.retry(request: request, completion: completion)
  }
}
