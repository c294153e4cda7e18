internal import BenchSubjects
internal import Carabiner
internal import CarabinerSQLite

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
    Benchmark(name: "\(kind).\(size)", summary: summary) { inputs in
      let path = "\(inputs.scratch)/\(kind)-\(size).sqlite"
      let work = StoreWork(try cache(path), isSmall: size == "1k")
      let written = try await Measurement.of(seconds: inputs.sampleSeconds, work.write)
      let read = try await Measurement.of(seconds: inputs.sampleSeconds, work.read)
      return written.figures("\(kind).write\(size)") + read.figures("\(kind).read\(size)")
        + [Figure("\(kind).write_and_read\(size).us", (written.nanoseconds + read.nanoseconds) / 1000)]
    }
  }
}
