import CarabinerWire
import Synchronization
import TestTools
import Testing

@testable import Carabiner

@Suite("Normalised store: changes and watchers", .timeLimit(.minutes(1)))
struct WatchTests {
  private let store = ApolloStore()
  private let hero = DynamicOperation.query("{ hero { __typename id name } }")

  private func data(_ name: String) -> String { #"{"hero":{"__typename":"Human","id":1,"name":"\#(name)"}}"# }

  @Test("changed keys are record.field, and only of values that changed", .rule("store.5"))
  func changedKeys() async throws {
    let changes = Mutex<[StoreChange]>([])
    let subscription = store.subscribe { _, change in changes.withLock { $0.append(change) } }
    try await store.publish(data("Luke"), for: hero)
    try await store.publish(data("Luke"), for: hero)
    try await store.publish(data("Leia"), for: hero)
    try await store.removeObject(for: "Human:1")
    try await store.clearCache()
    subscription.cancel()
    try await store.publish(data("Han"), for: hero)
    #expect(
      changes.withLock { $0 } == [
        .keys(["QUERY_ROOT.hero", "Human:1.__typename", "Human:1.id", "Human:1.name"]), .keys(["Human:1.name"]),
        .keys(["Human:1.__typename", "Human:1.id", "Human:1.name"]), .cleared,
      ])
  }

  @Test("subscribers run outside the lock and may use the store", .rule("store.5"))
  func outsideTheLock() async throws {
    let hero = hero
    let seen = Mutex<[Task<String?, any Error>]>([])
    let subscription = store.subscribe { store, _ in
      let task = Task { try await store.load(hero)?.data?["hero"]?["name"]?.string }
      seen.withLock { $0.append(task) }
    }
    try await store.publish(data("Luke"), for: hero)
    #expect(try await seen.withLock { $0 }.first?.value == "Luke")
    subscription.cancel()
  }

  @Test("a watcher gets the stored value and then each change, whatever its source", .rule("store.5"))
  func watching() async throws {
    try await store.publish(data("Luke"), for: hero)
    var results = store.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "Luke")
    try await store.publish(#"{"a":1}"#, for: .query("{ a }"))
    try await store.publish(
      #"{"rename":{"__typename":"Human","id":1,"name":"Leia"}}"#,
      for: DynamicOperation(document: "mutation { rename { __typename id name } }", operationType: .mutation))
    #expect(try await results.next()?.data?["hero"]?["name"] == "Leia")
    try await store.write(try json(data("Han")), for: hero)
    #expect(try await results.next()?.data?["hero"]?["name"] == "Han")
  }

  @Test("simultaneous changes are reported once, and a change back is not reported", .rule("store.5"))
  func coalescing() async throws {
    try await store.publish(data("Luke"), for: hero)
    var results = store.watch(hero).makeAsyncIterator()
    _ = try await results.next()
    for name in ["A", "B", "Luke", "C"] { try await store.publish(data(name), for: hero) }
    #expect(try await results.next()?.data?["hero"]?["name"] == "C")
    try await store.publish(data("D"), for: hero)
    try await store.publish(data("C"), for: hero)
    try await store.publish(data("E"), for: hero)
    #expect(try await results.next()?.data?["hero"]?["name"] == "E")
  }

  @Test("removed or cleared data is fetched again", .rule("store.5"), arguments: [true, false])
  func refetch(_ isCleared: Bool) async throws {
    let transport = RecordingTransport { request, number in
      .json(#"{"data":{"hero":{"__typename":"Human","id":1,"name":"N\#(number)"}}}"#, to: request)
    }
    let client = try ApolloClient.testing(transport, store: store)
    var results = client.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "N1")
    if isCleared { try await store.clearCache() } else { try await store.removeObjects(matching: "Human:*") }
    #expect(try await results.next()?.data?["hero"]?["name"] == "N2")
    try await store.publish(data("Luke"), for: hero)
    let third = try await results.next()
    #expect(try third?.data?["hero"]?["name"] == "Luke")
    #expect(third?.source == .cache)
    #expect(transport.requests.count == 2)
  }

  @Test("refetch sends the operation again for each reader of a watcher, by its policy")
  func requestedFetch() async throws {
    let transport = RecordingTransport { request, number in
      .json(#"{"data":{"hero":{"__typename":"Human","id":1,"name":"N\#(number)"}}}"#, to: request)
    }
    let watched = try ApolloClient.testing(transport, store: store).watch(hero)
    var results = watched.makeAsyncIterator()
    watched.refetch(cachePolicy: .cacheOnly)
    #expect(transport.requests.isEmpty)
    watched.refetch()
    #expect(try await results.next()?.data?["hero"]?["name"] == "N1")
    watched.refetch()
    #expect(try await results.next()?.data?["hero"]?["name"] == "N2")
    watched.refetch(cachePolicy: .cacheFirst)
    let cached = try await results.next()
    #expect(try cached?.data?["hero"]?["name"] == "N2")
    #expect(cached?.source == .cache)
    try await store.publish(data("Luke"), for: hero)
    #expect(try await results.next()?.data?["hero"]?["name"] == "Luke")
    #expect(transport.requests.count == 2)
  }

  @Test("a watcher of a store alone has nothing to fetch")
  func requestWithoutClient() async throws {
    try await store.publish(data("Luke"), for: hero)
    let watched = store.watch(hero)
    var results = watched.makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "Luke")
    watched.refetch()
    try await store.publish(data("Leia"), for: hero)
    #expect(try await results.next()?.data?["hero"]?["name"] == "Leia")
  }

  @Test("the fields that a result depends on are known for results of the server and of the cache")
  func dependentKeys() async throws {
    let client = try ApolloClient.testing(RecordingTransport(json: #"{"data":\#(data("Luke"))}"#), store: store)
    let fields: Set = ["QUERY_ROOT.hero", "Human:1.__typename", "Human:1.id", "Human:1.name"]
    for policy in [CachePolicy.networkOnly, .cacheOnly] {
      var results = try client.results(of: hero, cachePolicy: policy).makeAsyncIterator()
      let response = try #require(try await results.next())
      #expect(store.dependentKeys(of: response, to: hero) == fields)
    }
    let failed = try GraphQLResponse<DynamicOperation>(json: ["errors": [["message": "no"]]])
    #expect(store.dependentKeys(of: failed, to: hero) == nil)
  }

  @Test("a change before the end of the watched request was read is not lost", .rule("store.5"))
  func changeBeforeTheEnd() async throws {
    try await store.publish(data("Luke"), for: hero)
    let response = try GraphQLResponse<DynamicOperation>(json: JSONValue(parsing: #"{"data":\#(data("Luke"))}"#))
    let isRead = Mutex(false)
    let watched = WatchedResults(operation: hero, store: store, refetches: false) { _ in
      PullStream {
        isRead.withLock { isRead in
          defer { isRead = true }
          return isRead ? .end : .element(response)
        }
      }
    }
    var results = watched.makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "Luke")
    try await store.publish(data("Leia"), for: hero)
    #expect(try await results.next()?.data?["hero"]?["name"] == "Leia")
  }

  @Test("a mutation of the client changes what a watcher sees", .rule("store.5"))
  func mutation() async throws {
    let transport = RecordingTransport { request, number in
      .json(
        number == 1
          ? #"{"data":{"hero":{"__typename":"Human","id":1,"name":"Luke"}}}"#
          : #"{"data":{"rename":{"__typename":"Human","id":1,"name":"Leia"}}}"#, to: request)
    }
    let client = try ApolloClient.testing(transport, store: store)
    var results = client.watch(hero).makeAsyncIterator()
    #expect(try await results.next()?.data?["hero"]?["name"] == "Luke")
    let rename = DynamicOperation(document: "mutation { rename { __typename id name } }", operationType: .mutation)
    for try await _ in try client.results(of: rename) {}
    #expect(try await results.next()?.data?["hero"]?["name"] == "Leia")
    #expect(transport.requests.count == 2)
  }

  @Test("a watcher whose task is cancelled ends", .rule("store.5"))
  func cancellation() async throws {
    let (store, hero) = (store, hero)
    let task = Task {
      var count = 0
      for try await _ in store.watch(hero) { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    #expect(try await task.value == 0)
  }
}
