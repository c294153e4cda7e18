import Carabiner
import CarabinerWire
import FoundationEssentials
import Synchronization
import Testing

@Suite("Normalised store: origin of a publication", .timeLimit(.minutes(1)))
struct PublishOriginTests {
  /// The origins that a subscriber saw, with the changes.
  private final class Seen: Sendable {
    private let notes = Mutex<[(origin: PublishOrigin?, change: StoreChange)]>([])

    func note(_ change: StoreChange) { notes.withLock { $0.append((PublishOrigin.current, change)) } }

    var origins: [PublishOrigin?] { notes.withLock { $0.map(\.origin) } }
    var all: [(origin: PublishOrigin?, change: StoreChange)] { notes.withLock { $0 } }
  }

  /// A way to change a store.
  struct Write: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (ApolloStore) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (ApolloStore) async throws -> Void) {
      testDescription = name
      self.run = run
    }
  }

  private static let query = DynamicOperation.query("{ n }")

  private static let writes = [
    Write("publish") { try await $0.publish(#"{"n":2}"#, for: query) },
    Write("write") { try await $0.write(json(#"{"n":2}"#), for: query) },
    Write("update") { try await $0.update(query) { data in data = ["n": 2] } },
    Write("transaction") { store in
      try await store.withinReadWriteTransaction { try await $0.write(json(#"{"n":2}"#), for: query) }
    },
    Write("removal") { try await $0.removeObject(for: "QUERY_ROOT") },
    Write("clearing") { try await $0.clearCache() },
  ]

  @Test("a subscriber reads in its call who made the change, whatever made it", arguments: writes)
  func origin(_ write: Write) async throws {
    let (store, seen, origin) = (ApolloStore(), Seen(), PublishOrigin())
    try await store.publish(#"{"n":1}"#, for: Self.query)
    let subscription = store.subscribe { _, change in seen.note(change) }
    try await PublishOrigin.$current.withValue(origin) { try await write.run(store) }
    try await store.publish(#"{"n":3}"#, for: Self.query)
    #expect(seen.origins == [origin, nil])
    subscription.cancel()
  }

  @Test("writers at the same time are not mistaken for each other")
  func concurrent() async throws {
    let (store, seen) = (ApolloStore(), Seen())
    let subscription = store.subscribe { _, change in seen.note(change) }
    let origins = (0..<8).map { _ in PublishOrigin() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, origin) in origins.enumerated() {
        group.addTask {
          try await PublishOrigin.$current.withValue(origin) {
            for value in 0..<20 {
              try await store.publish(#"{"n\#(number)":\#(value)}"#, for: .query("{ n\(number) }"))
              await Task.yield()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(seen.all.count == 160)
    for (origin, change) in seen.all {
      let number = try #require(origins.firstIndex { $0 == origin })
      #expect(change == .keys(["QUERY_ROOT.n\(number)"]))
    }
    subscription.cancel()
  }

  @Test("the requests of a watcher publish under an origin of their own, even inside that of another writer")
  func watchers() async throws {
    let (store, seen, outer) = (ApolloStore(), Seen(), PublishOrigin())
    let subscription = store.subscribe { _, change in seen.note(change) }
    let transport = RecordingTransport { request, number in .json(#"{"data":{"n":\#(number)}}"#, to: request) }
    let client = try ApolloClient.testing(transport, store: store)
    try await PublishOrigin.$current.withValue(outer) {
      for _ in 0..<2 {
        var results = client.watch(Self.query, cachePolicy: .networkOnly).makeAsyncIterator()
        _ = try await results.next()
      }
      for try await _ in try client.results(of: Self.query, cachePolicy: .networkOnly) {}
    }
    let origins = seen.origins.compactMap(\.self)
    #expect(Set(origins).count == 3)
    #expect(origins.last == outer)
    subscription.cancel()
  }

  @Test("an origin is recognised by its identifier")
  func identifier() {
    let id = UUID()
    #expect(PublishOrigin(id: id) == PublishOrigin(id: id))
    #expect(PublishOrigin().id != PublishOrigin().id)
  }
}
