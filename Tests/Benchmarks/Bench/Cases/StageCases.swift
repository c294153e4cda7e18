internal import BenchSubjects
internal import CarabinerManifest
internal import CarabinerProvider

extension Benchmark {
  /// The chain lengths whose slope is the cost of one additional stage.
  private static let lengths = [0, 10, 50, 200]

  static let stages: [Benchmark] = [
    plugin("stage.c.noop.ns", "a C plugin that does nothing", "noop.so"),
    plugin("stage.swift.noop.ns", "a Swift plugin that does nothing", "swift-noop.so"),
    plugin("stage.rust.noop.ns", "a Rust plugin that does nothing", "rust-noop.so"),
    slope("stage.http.chunk.ns", "a C plugin that lets a request and its chunk pass") { count, inputs in
      try MockedHost(count, of: "\(inputs.plugins)/stages.so", interceptor: "org.carabiner.bench.chunk", in: "http")
    },
    slope("stage.native.map.ns", "a Swift interceptor of the program that maps results") { count, _ in
      try MockedHost(mapping: count)
    },
    Benchmark(name: "stage.pending.us", summary: "a stage that is resumed by another thread") { inputs in
      let file = "\(inputs.plugins)/stages.so"
      let slope = try await measured([0, 1, 4], inputs) { count in
        try MockedHost(count, of: file, interceptor: "org.carabiner.bench.pending", in: "graphql")
      }
      return [Figure("stage.pending.us", slope.time.each / 1000)]
    },
    Benchmark(name: "stage.ffi.ns", summary: "a C function called as a stage") { inputs in
      let slope = try await measured([0, 4, 16], inputs) { count in
        let entries = (0..<count).map { number in
          """
            - name: f\(number)
              ffi: {library: libc.so.6, function: labs, returns: u64, header: X-\(number), arguments: [{type: u64, value: 5}]}

          """
        }
        let text = """
          carabiner: 1
          plugins:\(count == 0 ? " []\n" : "\n" + entries.joined())
          chain: {cache: [], http: [\((0..<count).map { "f\($0), " }.joined())response-code]}
          """
        return try MockedHost(HostedChain(Manifest(text: text)))
      }
      return slope.time.figures("stage.ffi.ns")
    },
  ]

  private static func plugin(_ name: String, _ summary: String, _ file: String) -> Benchmark {
    slope(name, summary) { count, inputs in
      try MockedHost(count, of: "\(inputs.plugins)/\(file)", in: "graphql")
    }
  }

  private static func slope(
    _ name: String, _ summary: String, _ host: @escaping @Sendable (Int, Inputs) throws -> MockedHost
  ) -> Benchmark {
    Benchmark(name: name, summary: summary) { inputs in
      let measured = try await measured(lengths, inputs) { try host($0, inputs) }
      // The first stage also allocates data that all stages share, so the slope begins after it.
      let further = Slope(points: measured.time.points.filter { $0.count > 0 })
      let base = String(name.dropLast(3))
      // Exact on any machine: an additional stage that changes nothing does not allocate.
      let allocations = measured.allocations.points.map { Figure("\(base).allocs.at.\($0.count)", $0.cost) }
      return measured.time.figures(name) + [Figure("\(base).further.ns", further.each)] + allocations
    }
  }

  /// Chains of several lengths, measured alternately.
  private static func measured(
    _ lengths: [Int], _ inputs: Inputs, _ host: (Int) throws -> MockedHost
  ) async throws -> (time: Slope, allocations: Slope) {
    let hosts = try lengths.map(host)
    let taken = try await Measurement.inTurns(
      seconds: inputs.sampleSeconds, hosts.map { host in { try await host.run($0) } })
    return (
      Slope(points: zip(lengths, taken).map { ($0, $1.nanoseconds) }),
      Slope(points: zip(lengths, taken).map { ($0, $1.allocations) })
    )
  }
}
