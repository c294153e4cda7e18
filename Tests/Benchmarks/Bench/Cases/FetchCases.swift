internal import BenchSubjects
internal import CBenchmark
internal import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerWire
internal import Foundation
internal import Synchronization

extension Benchmark {
  static let fetches: [Benchmark] = [
    Benchmark(name: "libcurl.c32.us", summary: "peer: C over libcurl's multi interface, 32 at once") { inputs in
      let server = try inputs.requireServer()
      return try await peer(server, 32).times("libcurl.c32")
    },
    Benchmark(name: "libcurl.c1.us", summary: "peer: the same, one at a time") { inputs in
      let server = try inputs.requireServer()
      return try await peer(server, 1).times("libcurl.c1")
    },
    Benchmark(name: "fetch.c32.us", summary: "the default chain and ten C stages over libcurl, 32 at once") { inputs in
      try await fetch(inputs, stages: 10, concurrency: 32).times("fetch.c32")
    },
    Benchmark(name: "fetch.c1.us", summary: "the same, one at a time") { inputs in
      try await fetch(inputs, stages: 10, concurrency: 1).times("fetch.c1")
    },
    Benchmark(name: "fetch.plain.c32.us", summary: "the chain without plugins and cache, 32 at once") { inputs in
      try await fetch(inputs, stages: 0, concurrency: 32, cache: false).times("fetch.plain.c32")
    },
    Benchmark(name: "transport.c32.us", summary: "our transport alone, 32 at once") { inputs in
      let server = try inputs.requireServer()
      guard let url = URL(string: server) else { throw Inputs.Missing(description: "no URL: \(server)") }
      let transport = try CurlTransport()
      var request = Carabiner.URLRequest(url: url)
      request.httpMethod = "POST"
      request.body = .data(Data(body.utf8))
      request.headers.add(name: "Content-Type", value: "application/json")
      let measured = try await cost(32, on: transport.loop) { [request] in
        var count = 0
        for try await chunk in try await transport.send(request).chunks { count += chunk.count }
        guard count > 0 else { throw CancellationError() }
      }
      return measured.times("transport.c32")
    },
  ]

  static let body = JSONValue.object([
    "operationName": "Items", "query": .string(Samples.itemsDocument), "variables": .object([:]),
  ]).description

  private static func peer(_ server: String, _ concurrency: Int) async throws -> Measurement {
    try await Measurement.of(seconds: 0.3) { count in
      let failed = unsafe bench_libcurl(server, body, count, concurrency)
      guard failed == 0 else { throw Inputs.Missing(description: "\(failed) requests failed; is the server running?") }
    }
  }

  private static func fetch(
    _ inputs: Inputs, stages: Int, concurrency: Int, cache: Bool = true
  ) async throws -> Measurement {
    let server = try inputs.requireServer()
    guard let url = URL(string: server) else { throw Inputs.Missing(description: "no URL: \(server)") }
    let names = (0..<stages).map { "n\($0)" }
    let entries = names.map { "  - {name: \($0), file: \(inputs.plugins)/noop.so}\n" }.joined()
    let text = """
      carabiner: 1
      plugins:\(stages == 0 ? " []" : "\n" + entries)
      chain:
        graphql: [\((["max-retry"] + names).joined(separator: ", "))]\(cache ? "" : "\n  cache: []")
      """
    let transport = try CurlTransport()
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: try HostedChain(Manifest(text: text)), endpointURL: url, httpTransport: transport))
    let operation = DynamicOperation(document: Samples.itemsDocument, operationName: "Items")
    return try await cost(concurrency, on: transport.loop) {
      for try await response in try client.results(of: operation, cachePolicy: .networkOnly) where response.hasErrors {
        throw CancellationError()
      }
    }
  }

  /// The cost of one run of `work` at a given concurrency.
  static func cost(
    _ concurrency: Int, on executor: any TaskExecutor, _ work: @escaping @Sendable () async throws -> Void
  ) async throws -> Measurement {
    try await Measurement.of(seconds: 0.3) { count in
      let started = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<min(concurrency, count) {
          group.addTask(executorPreference: executor) {
            while started.next() <= count { try await work() }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

/// A counter shared by several tasks.
final class Counter: Sendable {
  private let value = Atomic(0)

  /// 1, 2, 3 and so on.
  func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
