import ArgumentParser
import Carabiner
import CarabinerRedis
import CarabinerWire

/// Reads and writes of responses: the time of the caller, and the processor time of the server.
struct StoreFigures: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Times writes and reads of 10 and 1,000 records.")

  @Argument(help: "The URL of a redis-server that nothing else uses.")
  var url: String

  @Option(help: "How often 10 records are written and read; 1,000 records a tenth of it.")
  var rounds = 2000

  func run() async throws {
    let store = try FigureStore(url, budget: .seconds(10))
    try await store.isReady()
    var result: JSONObject = [:]
    result["ping"] = try await measure(store, rounds) { try await store.ping() }
    for count in [10, 1000] {
      let (records, rounds) = (try FigureStore.records(count), max(1, count == 10 ? rounds : rounds / 10))
      result["write \(count)"] = try await measure(store, rounds) {
        _ = try await store.cache.merge(records: records)
        await store.cache.drained()
      }
      result["read \(count)"] = try await measure(store, rounds) { try await read([0..<count], of: store) }
      result["read \(count) in three levels"] = try await measure(store, rounds) {
        try await read([0..<1, 1..<(count / 2), (count / 2)..<count], of: store)
      }
    }
    print(JSONValue.object(result))
  }

  private func read(_ levels: [Range<Int>], of store: FigureStore) async throws {
    for level in levels {
      let found = try await store.cache.records(for: FigureStore.questions(level))
      guard found.allSatisfy({ $0?.table.count == 7 }) else { throw ValidationError("a record is missing") }
    }
  }

  private func measure(_ store: FigureStore, _ rounds: Int, _ body: () async throws -> Void) async throws -> JSONValue {
    for _ in 0..<max(1, rounds / 10) { try await body() }
    let before = try await store.serverTime()
    var times: [Double] = []
    for _ in 0..<rounds {
      let begin = ContinuousClock.now
      try await body()
      times.append((ContinuousClock.now - begin).microseconds)
    }
    let server = (try await store.serverTime() - before) / Double(rounds)
    return ["wall": JSONValue(rounding: times.median), "server": JSONValue(rounding: server)]
  }
}

extension JSONValue {
  /// A number with one digit behind the point.
  init(rounding value: Double) { self = JSONNumber((value * 10).rounded() / 10).map { .number($0) } ?? .null }
}
