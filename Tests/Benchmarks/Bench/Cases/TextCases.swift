internal import BenchSubjects
internal import CBenchmark
internal import CarabinerWire
internal import Foundation

extension Benchmark {
  static let texts: [Benchmark] = [
    Benchmark(name: "json.parse", summary: "a tree of 100 KB of JSON; peers: simdjson, Foundation") { inputs in
      let text = Samples.large()
      let data = Data(text)
      func perByte(_ body: (Int) throws -> Void) async throws -> Double {
        try await Measurement.of(seconds: inputs.sampleSeconds) { try body($0) }.nanoseconds / Double(text.count)
      }
      let ours = try await measured("json.parse", inputs).nanoseconds / Double(text.count)
      let foundation = try await perByte { for _ in 0..<$0 { _ = try JSONSerialization.jsonObject(with: data) } }
      let peer = try await simdjson(text, onDemand: false, inputs)
      return [
        Figure("json.parse.ns_per_byte", ours), Figure("json.parse.foundation.ns_per_byte", foundation),
        Figure("json.parse.simdjson.ns_per_byte", peer),
      ]
    },
    Benchmark(name: "json.locate", summary: "the members of a response found; peer: simdjson on demand") { inputs in
      try await scanned("json.locate", onDemand: true, inputs)
    },
    Benchmark(name: "json.tape", summary: "the places of all values of a response; peer: simdjson's tape") { inputs in
      try await scanned("json.tape", onDemand: false, inputs)
    },
    Benchmark(name: "multipart", summary: "parts of 64 KB in chunks of 16 KB; peer: memchr over the same bytes") { inputs in
      let body = Samples.parts()
      let measured = try await measured("multipart", inputs)
      let peer = try await Measurement.of(seconds: inputs.sampleSeconds) { count in
        for _ in 0..<count {
          let found = unsafe body.withUnsafeBytes { unsafe bench_memchr($0.baseAddress, $0.count, 10) }
          guard found > 0 else { throw CancellationError() }
        }
      }
      return [
        Figure("multipart.ns_per_byte", measured.nanoseconds / Double(body.count)),
        Figure("multipart.memchr.ns_per_byte", peer.nanoseconds / Double(body.count)),
      ]
    },
    Benchmark(name: "document.parse", summary: "a GraphQL document of 2 KB") { inputs in
      try await measured("document.parse", inputs).figures("document.parse")
    },
  ]

  /// The time per byte of several texts, beside simdjson.
  private static func scanned(_ subject: String, onDemand: Bool, _ inputs: Inputs) async throws -> [Figure] {
    var figures: [Figure] = []
    for sample in Samples.json {
      let (name, text) = ("\(subject).\(sample.name)", sample.text())
      let measured = try await measured(name, inputs)
      figures += [
        Figure("\(name).ns_per_byte", measured.nanoseconds / Double(text.count)),
        Figure("\(name).simdjson.ns_per_byte", try await simdjson(text, onDemand: onDemand, inputs)),
      ]
    }
    return figures
  }

  private static func measured(_ subject: String, _ inputs: Inputs) async throws -> Measurement {
    try await Measurement.of(
      seconds: inputs.sampleSeconds, try await Subject.work(subject, plugins: inputs.plugins))
  }

  private static func simdjson(_ text: [UInt8], onDemand: Bool, _ inputs: Inputs) async throws -> Double {
    let padded = text + [UInt8](repeating: 0, count: bench_json_padding)
    let measured = try await Measurement.of(seconds: inputs.sampleSeconds) { iterations in
      for _ in 0..<iterations {
        let seen = unsafe padded.withUnsafeBytes {
          unsafe bench_simdjson($0.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, onDemand ? 1 : 0)
        }
        guard seen > 0 else { throw Inputs.Missing(description: "simdjson does not take the text") }
      }
    }
    return measured.nanoseconds / Double(text.count)
  }
}
