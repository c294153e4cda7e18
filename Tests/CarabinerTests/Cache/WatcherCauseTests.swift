import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Normalised store: changes that make a watcher fetch again", .timeLimit(.minutes(1)))
struct WatcherCauseTests {
  private let store = ApolloStore()
  private let hero = DynamicOperation.query("{ hero { __typename id name } }")

  private func data(_ name: String) -> String { #"{"hero":{"__typename":"Human","id":1,"name":"\#(name)"}}"# }

  @Test("a result that cannot be read back does not cause a request, and neither do changes of other fields", .rule("detail.3"))
  func notReadBack() async throws {
    // The server omits the name, so the store never has the complete result.
    let transport = RecordingTransport(json: #"{"data":{"hero":{"__typename":"Human","id":1}}}"#)
    let client = try ApolloClient.testing(transport, store: store)
    var results = client.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.source == .server)
    try await store.publish(#"{"other":1}"#, for: .query("{ other }"))
    try await store.publish(#"{"hero":{"__typename":"Human","id":1,"age":3}}"#, for: .query("{ hero { __typename id age } }"))
    try await store.publish(data("Luke"), for: hero)
    let second = try await results.next()
    #expect(second?.source == .cache)
    #expect(try second?.data?["hero"]?["name"] == "Luke")
    #expect(transport.requests.count == 1)
  }

  @Test("a change of a field that the last result was made of makes it ask again, as often as that happens", .rule("detail.3"))
  func changedByOthers() async throws {
    let transport = RecordingTransport { request, number in
      .json(#"{"data":{"hero":{"__typename":"Human","id":\#(number)}}}"#, to: request)
    }
    let client = try ApolloClient.testing(transport, store: store)
    var results = client.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["id"] == 1)
    try await store.removeObject(for: "Human:1")
    #expect(try await results.next()?.data?["hero"]?["id"] == 2)
    // The first hero is no longer part of the last result.
    try await store.publish(#"{"x":{"__typename":"Human","id":1,"name":"Old"}}"#, for: .query("{ x { __typename id name } }"))
    try await store.removeObject(for: "Human:2")
    #expect(try await results.next()?.data?["hero"]?["id"] == 3)
    #expect(transport.requests.count == 3)
  }

  @Test("a watcher does not report the writes of its own request, but reports those of another watcher", .rule("detail.3"))
  func ownWrites() async throws {
    let transport = RecordingTransport { request, number in .json(#"{"data":\#(data("N\(number)"))}"#, to: request) }
    let client = try ApolloClient.testing(transport, store: store)
    var one = client.watch(hero, cachePolicy: .networkOnly).makeAsyncIterator()
    #expect(try await one.next()?.data?["hero"]?["name"] == "N1")
    var other = client.watch(hero, cachePolicy: .networkOnly).makeAsyncIterator()
    #expect(try await other.next()?.data?["hero"]?["name"] == "N2")
    #expect(try await one.next()?.data?["hero"]?["name"] == "N2")
    try await store.publish(data("N3"), for: hero)
    #expect(try await one.next()?.data?["hero"]?["name"] == "N3")
    #expect(try await other.next()?.data?["hero"]?["name"] == "N3")
    #expect(transport.requests.count == 2)
  }

  @Test("a change that comes between a result and its delivery is not lost", .rule("detail.3"))
  func changeDuringDelivery() async throws {
    let store = store
    let newer = data("Newer")
    let hero = hero
    // The cache stage writes the result. Then another writer changes the store before the caller receives the result.
    struct Meddling: CacheInterceptor {
      let inner = DefaultCacheInterceptor()
      let meddle: @Sendable () async throws -> Void

      func readCacheData<Request: GraphQLRequest>(
        from store: ApolloStore, request: Request
      ) async throws -> GraphQLResponse<Request.Operation>? { try await inner.readCacheData(from: store, request: request) }

      func writeCacheData<Request: GraphQLRequest>(
        to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
      ) async throws {
        try await inner.writeCacheData(to: store, request: request, response: response)
        try await meddle()
      }
    }
    let cache = Meddling { try await Task.detached { try await store.publish(newer, for: hero) }.value }
    let client = try ApolloClient.testing(
      RecordingTransport(json: #"{"data":\#(data("Older"))}"#), provider: ListProvider(cache: cache), store: store)
    var results = client.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "Older")
    #expect(try await results.next()?.data?["hero"]?["name"] == "Newer")
  }

  @Test("a watcher that does not refetch stays silent while something is missing", .rule("detail.3"), arguments: [true, false])
  func silent(_ isCacheOnly: Bool) async throws {
    let transport = RecordingTransport(json: #"{"data":\#(data("Server"))}"#)
    let client = try ApolloClient.testing(transport, store: store)
    let watch = client.watch(hero, cachePolicy: isCacheOnly ? .cacheOnly : .cacheFirst, refetchesMissing: false)
    var results = watch.makeAsyncIterator()
    if !isCacheOnly { #expect(try await results.next()?.data?["hero"]?["name"] == "Server") }
    let (store, hero, text) = (store, hero, data("Luke"))
    let writer = Task {
      try await store.removeObjects(matching: "*")
      try await store.publish(#"{"hero":null,"x":1}"#, for: .query("{ hero { id } x }"))
      try await store.removeObjects(matching: "*")
      try await store.publish(text, for: hero)
    }
    var names: [JSONValue?] = []
    // A null between two values may or may not be delivered.
    repeat { names.append(try await results.next()?.data?["hero"]?["name"]) } while names.last != .some("Luke")
    try await writer.value
    #expect(names.allSatisfy { $0 == nil || $0 == "Luke" })
    #expect(transport.requests.count == (isCacheOnly ? 0 : 1))
  }
}
