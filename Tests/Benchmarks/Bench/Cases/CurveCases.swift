internal import BenchSubjects
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerManifest

extension Benchmark {
  /// The cost of a request as one property of the request or its host grows. The first curve should rise; the others should be
  /// flat.
  static let curves: [Benchmark] = [
    curve("curve.body.us", "the default chain over answers of growing size", [1, 9, 90, 900]) { items, _ in
      try MockedHost(items: items)
    },
    curve("curve.loaded.us", "one plugin stage in a host that has loaded so many libraries", [1, 20, 200]) {
      try MockedHost(loaded: $0, plugins: $1.plugins)
    },
    curve("curve.rules.us", "the same among so many rules, none of them for the operation", [1, 100, 1000]) {
      try MockedHost(rules: $0, plugins: $1.plugins)
    },
    Benchmark(name: "curve.retired.us", summary: "the same after so many generations were made and dropped") { inputs in
      let copies = try PluginCopies(of: "\(inputs.plugins)/noop.so")
      var (figures, retired): ([Figure], Int) = ([], 0)
      for count in [0, 100, 300] {
        let host = try await MockedHost(retired: count - retired, copies)
        let measured = try await Measurement.of(seconds: inputs.sampleSeconds) { try await host.run($0) }
        figures.append(Figure("curve.retired.us.at.\(count)", measured.nanoseconds / 1000))
        // This generation is dropped too, before the next is made.
        retired = count + 1
      }
      return figures
    },
  ]

  private static func curve(
    _ name: String, _ summary: String, _ counts: [Int], _ host: @escaping @Sendable (Int, Inputs) throws -> MockedHost
  ) -> Benchmark {
    Benchmark(name: name, summary: summary) { inputs in
      var figures: [Figure] = []
      for count in counts {
        let host = try host(count, inputs)
        let measured = try await Measurement.of(seconds: inputs.sampleSeconds) { try await host.run($0) }
        figures.append(Figure("\(name).at.\(count)", measured.nanoseconds / 1000))
      }
      return figures
    }
  }
}
