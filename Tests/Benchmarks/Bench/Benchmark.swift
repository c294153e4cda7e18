/// A benchmark case.
struct Benchmark: Sendable {
  /// The prefix of its figures' names.
  let name: String
  /// One line that describes the measured work.
  let summary: String
  /// Runs the case once, including its warm-up.
  let measure: @Sendable (Inputs) async throws -> [Figure]

  /// All cases, in the order of execution and display.
  static let all = stages + chains + fetches + otherClients + texts + caches + hosts + generations + curves + workers
}

/// A named number.
struct Figure: Sendable, Codable {
  /// The name in the documentation. Its last component is the unit.
  let name: String
  /// The value, in the unit of the name.
  let value: Double

  init(_ name: String, _ value: Double) {
    self.name = name
    self.value = value
  }
}

/// The inputs of a case.
struct Inputs: Sendable {
  /// The folder of the benchmark plugins.
  let plugins: String
  /// The URL of a server that answers every POST with 1 KB of JSON.
  let server: String?
  /// A folder for files.
  let scratch: String
  /// The duration of each sample, in seconds.
  let sampleSeconds: Double

  /// A requirement of a case is missing.
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  /// The server's URL.
  func requireServer() throws -> String {
    guard let server else {
      throw Missing(description: "this case needs a server: give --server URL, or use Scripts/measure chain")
    }
    return server
  }
}
