import Carabiner
import CarabinerSQLite
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("SQLite cache")
struct SQLiteCacheTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store.sqlite") }
  private let hero = DynamicOperation(document: "{ hero(e: A) { __typename id name friends { __typename id } } }")
  private static let data =
    #"{"hero":{"__typename":"Human","id":"é\"1","name":"Luke","friends":[{"__typename":"Droid","id":2},null]}}"#

  init() throws { folder = try TemporaryFolder() }

  private func publish(_ data: String, to store: ApolloStore) async throws {
    let body = try ResponseBody(Data(#"{"data":\#(data)}"#.utf8))
    if let records = ApolloStore.records(of: body, operation: hero) { try await store.publish(records: records) }
  }

  private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test("records are there when the file is opened again, and sqlite3 can read them", .rule("store.6"))
  func persistence() async throws {
    try await publish(Self.data, to: ApolloStore(cache: try SQLiteNormalizedCache(path: path)))
    let again = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
    #expect(try await again.load(hero)?.data == JSONValue(parsing: Self.data))
    let shown = try await ToolRun(
      URL(filePath: "/usr/bin/env"),
      ["sqlite3", path, "SELECT value FROM fields WHERE key = 'QUERY_ROOT' AND field = 'hero(e:A)'; PRAGMA integrity_check;"])
    #expect(shown.output == #"{"$ref":"Human:é\"1"}"# + "\nok\n")
  }

  @Test("a file that is made is for its owner alone, and one that is there stays as open as it was", .rule("store.6"))
  func mode() async throws {
    let there = path + ".there"
    #expect(FileManager.default.createFile(atPath: there, contents: nil, attributes: [.posixPermissions: 0o644]))
    for (path, mode) in [(path, 0o600), (there, 0o644)] {
      let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
      try await publish(Self.data, to: store)
      for file in [path, path + "-wal"] {
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == mode, "\(file)")
      }
      withExtendedLifetime(store) {}
    }
  }

  @Test("changed keys are the same as in memory, removals and clearing included", .rule("store.5", "store.6"))
  func changedKeys() async throws {
    for cache in [try SQLiteNormalizedCache(path: path), InMemoryNormalizedCache()] as [any NormalizedCache] {
      let first = RecordSet([
        Record(key: "a", fields: ["x": Data("1".utf8), "y": Data("2".utf8)]), Record(key: "b", fields: ["x": Data("1".utf8)]),
      ])
      #expect(try await cache.merge(records: first).keys == ["a.x", "a.y", "b.x"])
      #expect(try await cache.merge(records: first).isEmpty)
      let second = RecordSet([Record(key: "a", fields: ["y": Data("3".utf8), "z": Data("4".utf8)])])
      #expect(try await cache.merge(records: second).keys == ["a.y", "a.z"])
      #expect(try await cache.apply(removing: ["a", "none"], merging: first).keys.isSuperset(of: ["a.x", "a.y", "a.z"]))
      #expect(try await cache.keys(matching: "*").sorted() == ["a", "b"])
      #expect(try await cache.records(forKeys: ["b", "none", "a"]).map { $0?.names.sorted() } == [["x"], nil, ["x", "y"]])
      try await cache.removeRecord(for: "a")
      #expect(try await cache.loadRecords(forKeys: ["a", "b"]).keys.sorted() == ["b"])
      try await cache.clear()
      #expect(try await cache.keys(matching: nil).isEmpty)
    }
  }

  @Test(
    "equal values are not changed, and their time of receipt is updated", .rule("store.5", "store.6"), arguments: [true, false])
  func receivedAgain(isWhole: Bool) async throws {
    for cache in [try SQLiteNormalizedCache(path: path), InMemoryNormalizedCache()] as [any NormalizedCache] {
      let fields = ["x": Data("1".utf8), "y": Data("2".utf8), "z": Data("3".utf8)]
      _ = try await cache.merge(records: RecordSet([Record(key: "a", fields: fields, received: 1)]))
      var again = Record(key: "a", fields: isWhole ? fields : fields.filter { $0.key != "y" }, received: 2)
      #expect(try await cache.merge(records: RecordSet([again])).isEmpty)
      var record = try #require(try await cache.records(forKeys: ["a"]).first ?? nil)
      #expect(["x", "y", "z"].map { record.received($0) } == [2, isWhole ? 2 : 1, 2])
      again.set("z", to: Array("4".utf8), received: 3)
      #expect(try await cache.merge(records: RecordSet([again])).keys == ["a.z"])
      record = try #require(try await cache.records(forKeys: ["a"]).first ?? nil)
      #expect(["x", "y", "z"].map { record.received($0) } == [2, isWhole ? 2 : 1, 3])
      #expect(record["z"] == Array("4".utf8) && record["y"] == Array("2".utf8))
    }
  }

  @Test("a field that is asked for under two names is one field", .rule("store.5", "store.6"))
  func twoNames() async throws {
    let operation = DynamicOperation(document: "{ a: hero { __typename id b: name c: name } }")
    let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
    let body = try ResponseBody(Data(#"{"data":{"a":{"__typename":"Human","id":"1","b":"Luke","c":"Luke"}}}"#.utf8))
    let records = try #require(ApolloStore.records(of: body, operation: operation)).list(policy: .default)
    #expect(records.contains { Set($0.names).count < $0.names.count })
    let cache = try SQLiteNormalizedCache(path: path)
    #expect(try await cache.merge(records: RecordSet(records)).fieldCount == 4)
    #expect(try await cache.merge(records: RecordSet(records)).isEmpty)
    #expect(try await store.load(operation)?.body.hasData == true)
  }

  @Test("a transaction that throws leaves the file as it was", .rule("store.4", "store.6"))
  func rollback() async throws {
    struct Failure: Error {}
    let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
    try await publish(Self.data, to: store)
    await #expect(throws: Failure.self) {
      try await store.withinReadWriteTransaction { transaction in
        try await transaction.removeObjects(matching: "*")
        throw Failure()
      }
    }
    #expect(try await store.load(hero) != nil)
  }

  @Test("many readers and writers at once", .rule("store.6"))
  func concurrency() async throws {
    let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
    try await publish(Self.data, to: store)
    let hero = hero
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<60 {
        group.addTask {
          if number % 3 > 0 { return try await store.load(hero) != nil }
          return try await store.update(hero) { $0 = $0 }
        }
      }
      for try await isThere in group { #expect(isThere) }
    }
  }

  @Test(
    "no record is torn and nothing that was committed is lost when the writer is killed", .rule("store.6"),
    .timeLimit(.minutes(2)))
  func killed() async throws {
    let program = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "StoreWriter")
    let (path, total) = (path, 1_000)
    var (next, kills) = (0, 0)
    // On a slow machine little is written between two kills, so the pause grows until it is enough.
    var patience: UInt32 = 1
    while next < total || kills < 5 {
      let pause = patience * UInt32.random(in: 20_000...150_000)
      let begin = next
      defer { if next - begin < total / 30 { patience = min(2 * patience, 32) } }
      let run = try await ToolRun(program, [path, "\(next)", next < total - 300 ? "1000000" : "100000"]) { process in
        usleep(pause)
        kill(process, SIGKILL)
      }
      #expect(run.status == -SIGKILL, "\(run.errors)")
      kills += 1
      let written = run.output.split(separator: "\n").last.flatMap { Int($0) }
      guard FileManager.default.fileExists(atPath: path), written != nil || next > 0 else { continue }
      let cache = try SQLiteNormalizedCache(path: path)
      let records = try await cache.records(forKeys: (0..<10).map { "T:\($0)" })
      let numbers = Set(records.map { $0?["number"].flatMap { Int(String(decoding: $0, as: UTF8.self)) } })
      #expect(numbers.count == 1, "all ten records have the number of one publish")
      let number = try #require(numbers.first ?? nil)
      #expect(number >= written ?? next - 1, "all writes that were reported are present")
      #expect(Set(records.map { $0?["long"]?.count }) == [1 + number % 500])
      next = number + 1
    }
    let check = try await ToolRun(URL(filePath: "/usr/bin/env"), ["sqlite3", path, "PRAGMA integrity_check"])
    #expect(check.output == "ok\n")
  }

  // MARK: Bad files

  @Test(
    "a file that is not a database, or another program's, is refused and not changed", .rule("store.6"),
    arguments: ["garbage", "other", "cut"])
  func notOurs(_ kind: String) async throws {
    let path = path
    switch kind {
    case "garbage": try Data(repeating: 0x5A, count: 5_000).write(to: URL(filePath: path))
    case "other": _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["sqlite3", path, "CREATE TABLE t (x)"])
    default:
      let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path))
      try await publish(Self.data, to: store)
      _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["sqlite3", path, "PRAGMA wal_checkpoint(TRUNCATE)"])
      var bytes = try Data(contentsOf: URL(filePath: path))
      for offset in 100..<min(bytes.count, 4_096) { bytes[offset] = 0xFF }
      let copy = folder.file("damaged.sqlite")
      try bytes.write(to: URL(filePath: copy))
      #expect(
        await code {
          _ = try await ApolloStore(cache: try SQLiteNormalizedCache(path: copy)).load(hero)
        } == .corrupt)
      return
    }
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(await code { _ = try SQLiteNormalizedCache(path: path) } == .corrupt)
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("a database of a newer version is refused", .rule("store.6"))
  func newerVersion() async throws {
    _ = try SQLiteNormalizedCache(path: path)
    _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["sqlite3", path, "PRAGMA user_version = 2"])
    #expect(await code { _ = try SQLiteNormalizedCache(path: path) } == .newerVersion)
  }

  @Test("a database another process holds is an error after the timeout, and works when it is free again", .rule("store.6"))
  func locked() async throws {
    let (path, cache) = (path, try SQLiteNormalizedCache(path: path, busyTimeout: 0.05))
    let store = ApolloStore(cache: cache)
    try await publish(Self.data, to: store)
    let holder = folder.file("holder")
    async let held = ToolRun(
      URL(filePath: "/usr/bin/env"), ["sqlite3", path],
      input: "BEGIN IMMEDIATE;\n.shell touch \(holder)\n.shell while test -e \(holder); do sleep 0.02; done\nCOMMIT;\n")
    #expect(await eventually { FileManager.default.fileExists(atPath: holder) })
    #expect(await code { try await publish(Self.data, to: store) } == .locked)
    #expect(try await store.load(hero) != nil, "readers do not wait for a writer")
    try FileManager.default.removeItem(atPath: holder)
    #expect(try await held.status == 0)
    try await publish(Self.data, to: store)
  }

  @Test("a database that is opened for reading is read and refuses to be written; an absent one is an error", .rule("store.6"))
  func readOnly() async throws {
    #expect(await code { _ = try SQLiteNormalizedCache(path: path, isReadOnly: true) } == .database)
    try await publish(Self.data, to: ApolloStore(cache: try SQLiteNormalizedCache(path: path)))
    let store = ApolloStore(cache: try SQLiteNormalizedCache(path: path, isReadOnly: true))
    #expect(try await store.load(hero) != nil)
    #expect(await code { try await publish(Self.data, to: store) } == .readOnly)
    #expect(await code { _ = try SQLiteNormalizedCache(path: folder.file("no/such/folder")) } == .database)
  }

  @Test(
    "a full disk is an error, changes nothing, and existing data can still be read", .rule("store.6"), .enabled(if: getuid() == 0)
  )
  func diskFull() async throws {
    let small = folder.file("small")
    try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
    let mounted = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small])
    // A container may not be allowed to mount.
    guard mounted.status == 0 else { return }
    let refusal = await code {
      let store = ApolloStore(cache: try SQLiteNormalizedCache(path: small + "/store.sqlite"))
      try await publish(Self.data, to: store)
      let large = Data(repeating: UInt8(ascii: "1"), count: 60_000)
      var failure: (any Error)?
      for number in 0..<20 where failure == nil {
        do {
          try await store.publish(records: RecordSet([Record(key: "L:\(number)", fields: ["a": large])]))
        } catch {
          failure = error
        }
      }
      #expect(try await store.load(hero)?.data == JSONValue(parsing: Self.data))
      if let failure { throw failure }
    }
    #expect(refusal == .diskFull)
    _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["umount", small])
  }

  @Test("the record of a root keeps its newest fields, and objects that only dropped fields had go with them")
  func rootFields() async throws {
    let cache = try SQLiteNormalizedCache(path: path, maximumFields: 40)
    let store = ApolloStore(cache: cache)
    func hero(_ number: Int) -> DynamicOperation {
      DynamicOperation(
        document: "query($n: Int) { hero(n: $n) { name home { planet } } }", variables: ["n": .number(JSONNumber(number))])
    }
    for number in 0..<300 {
      let body = try ResponseBody(Data(#"{"data":{"hero":{"name":"\#(number)","home":{"planet":"P"}}}}"#.utf8))
      try await store.publish(records: try #require(ApolloStore.records(of: body, operation: hero(number))))
    }
    let root = try #require(try await cache.records(forKeys: ["QUERY_ROOT"])[0])
    #expect((35...45).contains(root.names.count))
    #expect(try await cache.keys(matching: nil).count <= 1 + 2 * 45)
    #expect(try await store.load(hero(299))?.data?["hero"]?["home"]?["planet"] == "P")
    #expect(try await store.load(hero(0)) == nil)
  }

  /// The bytes of the pages in use.
  private func usedBytes() async throws -> Int {
    let shown = try await ToolRun(
      URL(filePath: "/usr/bin/env"),
      [
        "sqlite3", path,
        "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size;",
      ])
    return try #require(Int(shown.output.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  @Test(
    "a store in a file stays below its limit in bytes, and keeps the values that were received last",
    arguments: [100, 20_000])
  func maximumBytes(size: Int) async throws {
    let limit = 1 << 20
    let cache = try SQLiteNormalizedCache(path: path, maximumBytes: limit)
    let value = Data("\"\(String(repeating: "v", count: size))\"".utf8)
    let (batches, perBatch) = (100, max(1, limit / 10 / (size + 100)))
    for batch in 0..<batches {
      let records = (0..<perBatch).map { number in
        Record(
          key: "R:\((batch * 7919 + number * 104_729) % 1_000_003):\(batch)", fields: ["v": value], received: Int64(1000 + batch))
      }
      _ = try await cache.merge(records: RecordSet(records))
      if batch % 10 == 9 { #expect(try await usedBytes() <= limit + limit / 4) }
    }
    let batchesLeft = Set(try await cache.keys(matching: nil).compactMap { $0.split(separator: ":").last.flatMap { Int($0) } })
    #expect(batchesLeft.contains(batches - 1) && !batchesLeft.contains(0))
    // Without gaps, except that the oldest batch may be there in part.
    #expect(batchesLeft == Set((batchesLeft.min() ?? 0)..<batches))
    #expect(cache.evictedValues >= perBatch * (batches - batchesLeft.count))
  }

  @Test(
    "the limit holds if all values are received at once, or at impossible times", arguments: [0, -1, .max] as [Int64])
  func maximumBytesAtOnce(received: Int64) async throws {
    let limit = 1 << 20
    let cache = try SQLiteNormalizedCache(path: path, maximumBytes: limit)
    for batch in 0..<30 {
      let records = (0..<100).map {
        Record(key: "R:\(batch):\($0)", fields: ["v": Data(repeating: 0x31, count: 1000)], received: received)
      }
      _ = try await cache.merge(records: RecordSet(records))
    }
    #expect(try await usedBytes() <= limit + limit / 4)
    #expect(cache.evictedValues > 0)
  }

  @Test("a query reads only the fields of a root that it needs, whatever else is there")
  func someFields() async throws {
    let cache = try SQLiteNormalizedCache(path: path)
    _ = try await cache.merge(
      records: RecordSet([Record(key: "QUERY_ROOT", fields: ["a": Data("1".utf8), "b": Data("2".utf8), "c": Data("3".utf8)])]))
    #expect(try await cache.record(forKey: "QUERY_ROOT") { ["c", "x", "a", "c"] }?.names == ["c", "a"])
    #expect(try await cache.record(forKey: "QUERY_ROOT") { ["x"] } == nil)
    #expect(try await ApolloStore(cache: cache).load(DynamicOperation(document: "{ b a }"))?.data == ["b": 2, "a": 1])
  }
}
