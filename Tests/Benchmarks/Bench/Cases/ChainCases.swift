internal import BenchSubjects

extension Benchmark {
  static let chains: [Benchmark] = [
    subject("chain.mock", "the default chain, cache write included, over a constant 1 KB"),
    subject("chain.mock.uncached", "the same without a cache write"),
    subject("chain.mock.typed", "the same, its data decoded into a Decodable type"),
    subject("chain.typed.generated", "the same, its data read by a generated type"),
    subject("decode.generated", "data of 1 KB read by a generated type"),
    subject("decode.typed", "the same, decoded into a Decodable type"),
    subject("decode.foundation", "the same, decoded by JSONDecoder of Foundation"),
    subject("chain.mock.plain", "the same without JSON: what the chain itself costs"),
  ]

  /// The time and the allocations of a subject.
  static func subject(_ name: String, _ summary: String) -> Benchmark {
    Benchmark(name: name, summary: summary) { inputs in
      let work = try await Subject.work(name, plugins: inputs.plugins)
      return try await Measurement.of(seconds: inputs.sampleSeconds, work).figures(name)
    }
  }
}
