internal import Carabiner
internal import CarabinerSQLite
internal import Foundation

extension Benchmark {
  static let caches: [Benchmark] = [
    store("cache", "1k", "1 KB (10 records) written and read in memory") { _ in InMemoryNormalizedCache() },
    store("cache", "100k", "100 KB (1,001 records) written and read in memory") { _ in InMemoryNormalizedCache() },
    store("sqlite", "1k", "the same 1 KB in SQLite") { try SQLiteNormalizedCache(path: $0) },
    store("sqlite", "100k", "the same 100 KB in SQLite") { try SQLiteNormalizedCache(path: $0) },
  ]

  private static func store(
    _ kind: String, _ size: String, _ summary: String,
    _ cache: @escaping @Sendable (String) throws -> any NormalizedCache
  ) -> Benchmark {
    Benchmark(name: "\(kind).\(size)", summary: summary) { surroundings in
      let path = "\(surroundings.scratch)/\(kind)-\(size).sqlite"
      let store = ApolloStore(cache: try cache(path))
      let isSmall = size == "1k"
      let operation =
        isSmall
        ? DynamicOperation(document: Samples.itemsDocument, operationName: "Items")
        : DynamicOperation(document: Samples.largeDocument, operationName: "Rows")
      let body = Data(isSmall ? Samples.response(items: 9) : Samples.large())
      let written = try await Measurement.of(seconds: surroundings.sampleSeconds) { count in
        for _ in 0..<count {
          let (response, tape) = try ResponseBody.scanned(body)
          guard let records = ApolloStore.records(of: response, operation: operation, tape: tape) else {
            throw CancellationError()
          }
          try await store.publish(records: records)
        }
      }
      let read = try await Measurement.of(seconds: surroundings.sampleSeconds) { count in
        for _ in 0..<count {
          guard try await store.load(operation)?.body.hasData == true else { throw CancellationError() }
        }
      }
      return written.figures("\(kind).write\(size)") + read.figures("\(kind).read\(size)")
    }
  }
}
