/// A case: what it measures, and how.
struct Benchmark: Sendable {
  /// The beginning of its figures' names.
  let name: String
  /// What is measured, in a line.
  let summary: String
  /// Runs it once, warm-up included.
  let measure: @Sendable (Surroundings) async throws -> [Figure]

  /// All cases, in the order they are run and shown.
  static let all = stages + chains + fetches + otherClients + texts + caches + hosts + generations + curves
}

/// A named number.
struct Figure: Sendable, Codable {
  /// As the documentation calls it; its last component is the unit.
  let name: String
  /// The number, in the unit of the name.
  let value: Double

  init(_ name: String, _ value: Double) {
    self.name = name
    self.value = value
  }
}

/// What cases are given from outside.
struct Surroundings: Sendable {
  /// Where plugins of the benchmarks lie.
  let plugins: String
  /// A server that answers every POST with 1 KB of JSON.
  let server: String?
  /// A folder for files.
  let scratch: String
  /// How long each sample should take, in seconds.
  let sampleSeconds: Double

  /// Something a case needs is missing.
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  /// The server's URL.
  func requireServer() throws -> String {
    guard let server else { throw Missing(description: "this case needs a server: give --server URL, or use Scripts/bench") }
    return server
  }
}
