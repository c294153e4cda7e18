import Carabiner
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@Suite("Cache policies")
struct CachePolicyTests {
  private let store = ApolloStore()
  private static let cachedJSON = #"{"data":{"hero":{"name":"cached"}}}"#

  private func fill() async throws {
    _ = try await ApolloClient.testing(RecordingTransport(json: Self.cachedJSON), store: store).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly)
  }

  private func client(_ transport: RecordingTransport, observer: any ChainObserver = CacheFailureLog()) throws -> ApolloClient {
    try .testing(transport, store: store, observer: observer)
  }

  private static let refused = TransportError(.cannotConnect, "connection refused", url: "")

  @Test("C: cacheFirst asks the network on a miss and only then")
  func cacheFirst() async throws {
    let transport = RecordingTransport(json: heroJSON)
    let client = try client(transport)
    #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheFirst).source == .server)
    #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheFirst).source == .cache)
    #expect(transport.requests.count == 1)
  }

  @Test("C: networkFirst falls back to the cache")
  func networkFirst() async throws {
    try await fill()
    let response = try await client(RecordingTransport { _, _ in throw Self.refused }).fetch(
      query: HeroQuery(), cachePolicy: .networkFirst)
    #expect(try response.data?.hero?.name == "cached")
  }

  @Test("C: networkFirst with an empty cache throws the network's error")
  func networkFirstWithoutCache() async throws {
    let error = await #expect(throws: TransportError.self) {
      try await client(RecordingTransport { _, _ in throw Self.refused }).fetch(query: HeroQuery(), cachePolicy: .networkFirst)
    }
    #expect(error?.code == .cannotConnect)
  }

  @Test("C: cacheOnly returns nil on a miss and never asks the network")
  func cacheOnly() async throws {
    let transport = RecordingTransport(json: heroJSON)
    let response = try await client(transport).fetch(query: HeroQuery(), cachePolicy: .cacheOnly)
    #expect(response == nil)
    #expect(transport.requests.isEmpty)
  }

  @Test("C: cacheAndNetwork returns the cached result and then the server's")
  func cacheAndNetwork() async throws {
    try await fill()
    let stream = try await client(RecordingTransport(json: heroJSON)).fetch(query: HeroQuery(), cachePolicy: .cacheAndNetwork)
    var names: [String?] = []
    for try await response in stream { names.append(try response.data?.hero?.name) }
    #expect(names == ["cached", "R2-D2"])
  }

  @Test("C: cacheAndNetwork throws a network error after the cached result")
  func cacheAndNetworkFailing() async throws {
    try await fill()
    let stream = try await client(RecordingTransport { _, _ in throw Self.refused }).fetch(
      query: HeroQuery(), cachePolicy: .cacheAndNetwork)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next()?.source == .cache)
    await #expect(throws: TransportError.self) { try await iterator.next() }
  }

  @Test("C: mutations are never answered from the cache")
  func mutation() async throws {
    struct Rename: GraphQLMutation {
      typealias Data = HeroQuery.Data
      var operationName: String? { "Rename" }
      var document: String { "mutation Rename { hero { name } }" }
    }
    let transport = RecordingTransport(json: heroJSON)
    let client = try client(transport)
    for _ in 0..<2 { #expect(try await client.perform(mutation: Rename()).source == .server) }
    #expect(transport.requests.count == 2)
  }

  @Test("a cache that cannot be written is counted and the result is delivered", .rule("cache-policy.1"))
  func failingWrite() async throws {
    struct Broken: NormalizedCache {
      struct Full: Error {}
      func loadRecords(forKeys keys: Set<String>) async throws -> [String: Record] { throw Full() }
      func merge(records: RecordSet) async throws -> ChangedKeys { throw Full() }
      func keys(matching pattern: String?) async throws -> [String] { [] }
      func removeRecord(for key: String) async throws {}
      func clear() async throws {}
    }
    let log = CacheFailureLog()
    let client = try ApolloClient.testing(
      RecordingTransport(json: heroJSON), store: ApolloStore(cache: Broken()), observer: log)
    #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheFirst).data?.hero?.name == "R2-D2")
    #expect(log.readFailures == 1)
    #expect(log.writeFailures == 1)
  }

  @Test("null data is not written, and errors with data are", .rule("cache-policy.2"))
  func whatIsWritten() async throws {
    _ = try await client(RecordingTransport(json: #"{"data":null,"errors":[{"message":"no"}]}"#)).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(try await store.load(HeroQuery()) == nil)
    _ = try await client(RecordingTransport(json: #"{"data":{"hero":null},"errors":[{"message":"no"}]}"#)).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly)
    let stored = try #require(try await store.load(HeroQuery()))
    #expect(try stored.data?.hero == nil)
    #expect(!stored.hasErrors, "errors belong to a response, not to the records made of it")
  }

  @Test("a fetch of one value returns the first and does not ask for more", .rule("cache-policy.3"))
  func firstOnly() async throws {
    try await fill()
    let transport = RecordingTransport(json: heroJSON)
    let both: CachePolicy = .cacheAndNetwork
    #expect(try await client(transport).fetch(query: HeroQuery(), cachePolicy: both).source == .cache)
    #expect(transport.requests.isEmpty)
  }

  @Test("further results of a server after the first one are discarded", .rule("cache-policy.3"))
  func restIsDiscarded() async throws {
    let open = OpenConnections()
    let transport = RecordingTransport { request, _ in
      let connection = Connection(open)
      let head = HTTPURLResponse(
        url: request.url, statusCode: 200, headers: ["Content-Type": "multipart/mixed; boundary=b; deferSpec=20220824"])
      let part =
        "--b\r\nContent-Type: application/json\r\n\r\n{\"data\":{\"hero\":{\"name\":\"first\"}},\"hasNext\":true}\r\n--b\r\n"
      return HTTPResponse(
        response: head,
        chunks: PullStream {
          if connection.isFirstPull { return .element(Data(part.utf8)) }
          try await Task.sleep(for: .seconds(3600))
          return .end
        })
    }
    let client = try client(transport)
    #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly).data?.hero?.name == "first")
    #expect(await eventually { open.count == 0 })
  }

  @Test("a response answers the document and the variables that were sent, and is kept as an answer to these", .rule("store.2"))
  func wireOverrides() async throws {
    struct Rewriter: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request, next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        var request = request
        request.wireOverrides.document = .replaced("query Hero($e: E) { hero { name } extra(e: $e) }")
        request.wireOverrides.variables = JSONText(["e": "JEDI"])
        return await next(request)
      }
    }
    let client = try ApolloClient.testing(
      RecordingTransport(json: #"{"data":{"hero":{"name":"R2-D2"},"extra":1}}"#), provider: ListProvider(graphQL: [Rewriter()]),
      store: store)
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(try await store.load(HeroQuery())?.data?.hero?.name == "R2-D2")
    #expect(try await store.record("QUERY_ROOT")?["extra(e:JEDI)"] == 1)
  }

  @Test("a full cache drops what was used longest ago")
  func leastRecentlyUsed() async throws {
    let cache = InMemoryNormalizedCache(maximumRecords: 10)
    for number in 0..<10 {
      _ = try await cache.merge(records: RecordSet([Record(key: "\(number)", fields: ["f": Data([1])])]))
    }
    _ = try await cache.loadRecords(forKeys: ["0"])
    _ = try await cache.merge(records: RecordSet([Record(key: "new", fields: ["f": Data([1])])]))
    let left = try await cache.loadRecords(forKeys: ["0", "1", "new"])
    #expect(left.keys.sorted() == ["0", "new"])
  }
}

/// Counts connections that are open.
private final class OpenConnections: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .relaxed) }
  func change(by difference: Int) { number.add(difference, ordering: .relaxed) }
}

private final class Connection: Sendable {
  private let open: OpenConnections
  private let pulls = Atomic(0)

  init(_ open: OpenConnections) {
    self.open = open
    open.change(by: 1)
  }

  var isFirstPull: Bool { pulls.add(1, ordering: .relaxed).oldValue == 0 }

  deinit { open.change(by: -1) }
}
