internal import BenchSubjects
internal import CBenchmark
internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerManifest
internal import Foundation

extension Benchmark {
  static let hosts: [Benchmark] = [
    Benchmark(name: "route.ns", summary: "the stages of an operation found among 1,000 rules") { inputs in
      var points: [Figure] = []
      for count in [1, 100, 1000] {
        let manifest = try Manifest(text: Samples.rules(count))
        let cost = try await Measurement.of(seconds: inputs.sampleSeconds) { iterations in
          for iteration in 0..<iterations {
            let plan = manifest.stagePlan(operationName: "Operation\(iteration % count)", type: .query)
            guard plan.active(.graphQL).count == 1 else { throw CancellationError() }
          }
        }
        points.append(Figure(count == 1000 ? "route.ns" : "route.ns.at.\(count)", cost.nanoseconds))
      }
      return points
    },
    Benchmark(name: "rss", summary: "memory at rest, and per request that waits for its server") { inputs in
      let transport = try CurlTransport()
      let host = try MockedHost()
      try await host.run(10)
      let idle = bench_rss_bytes()
      let held = HeldTransport()
      guard let url = URL(string: "http://127.0.0.1/graphql") else { throw Inputs.Missing(description: "no URL") }
      let client = ApolloClient(
        networkTransport: RequestChainNetworkTransport(endpointURL: url, httpTransport: held))
      let count = 10_000
      let tasks = (0..<count).map { _ in
        Task(executorPreference: transport.loop) { try await client.results(of: host.operation).first { _ in true } }
      }
      while held.count < count { try await Task.sleep(for: .milliseconds(10)) }
      let loaded = bench_rss_bytes()
      for task in tasks { task.cancel() }
      for task in tasks { _ = await task.result }
      let each = Double(loaded - min(idle, loaded)) / Double(count)
      return [Figure("rss.idle.mb", Double(idle) / 1e6), Figure("rss.inflight.kb", each / 1000)]
    },
  ]
}
