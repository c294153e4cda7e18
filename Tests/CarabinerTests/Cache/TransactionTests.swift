import Carabiner
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@Suite("Normalised store: transactions")
struct TransactionTests {
  private let store = ApolloStore()
  private let hero = DynamicOperation.query("{ hero { __typename id name } }")
  private static let luke = #"{"hero":{"__typename":"Human","id":1,"name":"Luke"}}"#

  private struct Failure: Error {}

  @Test("a change is seen inside its transaction at once, and by others when it ends", .rule("store.4"))
  func update() async throws {
    try await store.publish(Self.luke, for: hero)
    let isChanged = try await store.withinReadWriteTransaction { transaction in
      try await transaction.update(hero) { data in
        guard var object = data["hero"]?.object else { return }
        object["name"] = "Leia"
        data = ["hero": .object(object)]
      }
      return try await transaction.read(hero)?.data?["hero"]?["name"] == "Leia"
    }
    #expect(isChanged)
    #expect(try await store.data(hero)?["hero"]?["name"] == "Leia")
    #expect(try await store.update(DynamicOperation.query("{ other }")) { $0 = ["other": 1] } == false)
  }

  @Test("a transaction that throws leaves nothing behind", .rule("store.4"))
  func rollback() async throws {
    try await store.publish(Self.luke, for: hero)
    await #expect(throws: Failure.self) {
      try await store.withinReadWriteTransaction { transaction in
        try await transaction.write(["hero": nil], for: hero)
        try await transaction.removeObject(for: "Human:1")
        #expect(try await transaction.record(for: "Human:1") == nil)
        throw Failure()
      }
    }
    #expect(try await store.data(hero) == json(Self.luke))
  }

  @Test("using the store inside its own transaction is an error at once, in child tasks too", .rule("store.4"))
  func reentrancy() async throws {
    func refusal(_ body: () async throws -> Void) async -> StoreError.Code? {
      do {
        try await body()
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    let (store, hero) = (store, hero)
    try await store.withinReadTransaction { _ in
      #expect(await refusal { _ = try await store.load(hero) } == .reentrantTransaction)
      #expect(await refusal { try await store.withinReadTransaction { _ in } } == .reentrantTransaction)
    }
    try await store.withinReadWriteTransaction { _ in
      #expect(await refusal { try await store.publish(records: RecordSet()) } == .reentrantTransaction)
      #expect(await refusal { try await store.clearCache() } == .reentrantTransaction)
      async let inner = refusal { _ = try await store.load(hero) }
      #expect(await inner == .reentrantTransaction)
      let other = try await ApolloStore().load(hero)
      #expect(other == nil, "another store may be used")
    }
  }

  @Test("a task that outlives the transaction it began in may use the store; the transaction itself is over", .rule("store.4"))
  func afterwards() async throws {
    let (store, hero) = (store, hero)
    try await store.publish(Self.luke, for: hero)
    let (gate, opened) = AsyncStream.makeStream(of: Void.self)
    let (task, ended) = try await store.withinReadTransaction { transaction in
      let task = Task {
        for await _ in gate { break }
        return try await store.data(hero)
      }
      return (task, transaction)
    }
    opened.yield()
    #expect(try await task.value == json(Self.luke))
    let error = await #expect(throws: StoreError.self) { try await ended.read(hero) }
    #expect(error?.code == .transactionEnded)
  }

  @Test("readers do not run one by one, and a writer waits for them", .rule("store.4"))
  func manyReaders() async throws {
    let (store, journal) = (store, Journal())
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let meeting = Meeting(count: 10)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask {
          try await store.withinReadTransaction { _ in
            await meeting.arrive()
            journal.note("read")
          }
        }
      }
      group.addTask {
        // The barrier has opened, so ten readers were inside at the same time.
        for await _ in gate { break }
        try await store.withinReadWriteTransaction { _ in journal.note("write") }
      }
      await meeting.arrived()
      open.yield()
      try await group.waitForAll()
    }
    #expect(journal.entries == Array(repeating: "read", count: 10) + ["write"])
  }

  @Test("writers exclude each other: no increment of 200 is lost", .rule("store.4"))
  func writers() async throws {
    let counter = DynamicOperation.query("{ n }")
    let store = store
    try await store.publish(#"{"n":0}"#, for: counter)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          try await store.update(counter) { data in
            data = ["n": .number(JSONNumber((data["n"]?.int ?? 0) + 1))]
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.data(counter) == ["n": 200])
  }

  @Test("a writer that waits is let go when its task is cancelled, and others go on", .rule("store.4"))
  func cancelledWaiter() async throws {
    let (store, hero) = (store, hero)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let meeting = Meeting(count: 1)
    let reader = Task {
      try await store.withinReadTransaction { _ in
        await meeting.arrive()
        for await _ in gate { break }
      }
    }
    await meeting.arrived()
    let writer = Task { try await store.clearCache() }
    try await Task.sleep(for: .milliseconds(20))
    writer.cancel()
    await #expect(throws: CancellationError.self) { try await writer.value }
    #expect(try await store.load(hero) == nil)
    open.yield()
    try await reader.value
    try await store.publish(Self.luke, for: hero)
    #expect(try await store.load(hero) != nil)
  }

  @Test("objects are removed by key and by pattern")
  func removal() async throws {
    let list = DynamicOperation.query("{ list { __typename id } }")
    try await store.publish(
      #"{"list":[{"__typename":"A","id":1},{"__typename":"A","id":12},{"__typename":"B","id":1}]}"#, for: list)
    try await store.removeObject(for: "B:1")
    #expect(try await store.keys() == ["A:1", "A:12", "QUERY_ROOT"])
    #expect(try await store.removeObjects(matching: "A:*") == 2)
    #expect(try await store.keys() == ["QUERY_ROOT"])
    try await store.clearCache()
    #expect(try await store.keys() == [])
  }

  @Test("data of another shape is refused and changes nothing")
  func wrongShape() async throws {
    let error = await #expect(throws: StoreError.self) { try await store.write(["hero": "x"], for: hero) }
    #expect(error?.code == .notNormalisable)
    #expect(try await store.keys() == [])
  }

  @Test(
    "patterns: * matches any text, and no other character is special",
    arguments: [
      ("*", "a", true), ("A:*", "A:", true), ("A:*", "B:1", false), ("*:1", "A:1", true), ("A*1*2", "A112", true),
      ("A*1*2", "A12", true), ("A*2*2", "A2", false), ("A.?", "A.b", false), ("", "", true), ("", "a", false), ("**", "", true),
    ])
  func patterns(_ pattern: String, _ key: String, _ fits: Bool) async throws {
    let cache = InMemoryNormalizedCache()
    _ = try await cache.merge(records: RecordSet([Record(key: key, fields: ["f": Data("1".utf8)])]))
    #expect(try await cache.keys(matching: pattern) == (fits ? [key] : []))
  }
}

/// A barrier: it holds tasks until all of them have arrived.
private actor Meeting {
  private var missing: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(count: Int) { missing = count }

  func arrive() async {
    missing -= 1
    guard missing > 0 else {
      for continuation in waiting { continuation.resume() }
      waiting = []
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func arrived() async {
    guard missing > 0 else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}
