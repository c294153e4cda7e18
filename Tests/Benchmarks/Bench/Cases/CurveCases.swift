internal import BenchSubjects
internal import Carabiner
internal import CarabinerHost

extension Benchmark {
  /// What a request costs when one thing about it or its host grows, for the plots; the first should rise, the second should not.
  static let curves: [Benchmark] = [
    curve("curve.body.us", "the default chain over answers of growing size", [1, 9, 90, 900]) { items, _ in
      try MockedHost(items: items)
    },
    curve("curve.loaded.us", "a chain without plugins in a host that has loaded so many", [1, 20, 200]) { count, surroundings in
      let entries = (0..<count).map { "  - {name: p\($0), file: \(surroundings.plugins)/noop.so}\n" }.joined()
      return try MockedHost(HostedChain(Manifest(text: "carabiner: 1\nplugins:\n\(entries)")))
    },
    curve("curve.rules.us", "a request that falls under none of so many rules", [1, 100, 1000]) { count, _ in
      try MockedHost(HostedChain(Manifest(text: Samples.rules(count))))
    },
  ]

  private static func curve(
    _ name: String, _ summary: String, _ counts: [Int], _ host: @escaping @Sendable (Int, Surroundings) throws -> MockedHost
  ) -> Benchmark {
    Benchmark(name: name, summary: summary) { surroundings in
      var figures: [Figure] = []
      for count in counts {
        let host = try host(count, surroundings)
        let measured = try await Measurement.of(seconds: surroundings.sampleSeconds) { try await host.run($0) }
        figures.append(Figure("\(name).at.\(count)", measured.nanoseconds / 1000))
      }
      return figures
    }
  }
}
