/// The target ranges of figures.
enum Aim {
  /// The allowed range of each figure, by name.
  static let all: [String: ClosedRange<Double>] = [
    "stage.c.noop.ns": 0...10, "stage.native.map.ns": 0...150, "stage.http.chunk.ns": 0...10, "stage.pending.us": 0...3,
    "chain.mock.us": 0...3, "chain.mock.allocs": 0...10, "chain.mock.typed.us": 0...3, "chain.mock.plain.us": 0...1,
    "fetch.c32.per_libcurl": 0...0.8, "transport.c32.per_libcurl": 0...0.5, "cache.write_and_read1k.us": 0...10,
    "cache.write_and_read100k.us": 0...1000,
    "json.locate.per_simdjson": 0...1.5, "json.tape.per_simdjson": 0...1.5, "multipart.per_memchr": 0...3,
    // Compared by instructions, which are exact. The report shows the times of the same work.
    "chain.stages.linear": 0.95...1.05, "chain.loaded.flat": 0.95...1.05, "chain.rules.flat": 0.95...1.05,
    "chain.retired.flat": 0.95...1.05,
    // worker.90: the first crossing of a request, with small data.
    "worker.set.s1.c1.added.us": 0...5, "worker.set.s1.c1.added.wall.us": 0...5, "worker.read1k.s1.c1.added.us": 0...5,
    "worker.read1k.s1.c1.added.wall.us": 0...5,
    // worker.91: ten stages of one group.
    "worker.set.s10.c32.ratio": 0...1.3, "worker.read1k.s10.c32.ratio": 0...1.3, "worker.read100k.s10.c32.ratio": 0...1.3,
    // worker.93, worker-test.49: after a crash.
    "worker.crash.first.ms": 0...5, "worker.crash.swift.first.ms": 0...10,
    // worker.94: with busy processors.
    "worker.busy.added.p99.us": 0...20,
  ]
}

/// A figure computed from other figures of the same run.
struct DerivedFigure: Sendable {
  let name: String
  /// The figures it is computed from. If one of them is missing, the result is omitted.
  let parts: [String]
  let value: @Sendable ([Double]) -> Double

  static let all = others + crossings

  private static let others = [
    // MARK: Compared with other clients
    ratio("fetch.c32.per_libcurl", "fetch.c32.us", "libcurl.c32.us"),
    ratio("fetch.c1.per_libcurl", "fetch.c1.us", "libcurl.c1.us"),
    ratio("transport.c32.per_libcurl", "transport.c32.us", "libcurl.c32.us"),
    ratio("fetch.c32.per_asynchttpclient", "fetch.c32.us", "asynchttpclient.c32.us"),
    ratio("json.parse.per_foundation", "json.parse.ns_per_byte", "json.parse.foundation.ns_per_byte"),
    ratio("json.locate.per_simdjson", "json.locate.100k.ns_per_byte", "json.locate.100k.simdjson.ns_per_byte"),
    ratio("json.tape.per_simdjson", "json.tape.100k.ns_per_byte", "json.tape.100k.simdjson.ns_per_byte"),
    ratio("multipart.per_memchr", "multipart.ns_per_byte", "multipart.memchr.ns_per_byte"),
    // The cost of an additional stage in a long chain, divided by its cost in a short one.
    linear("stage.c.noop.linear", "stage.c.noop.ns.at", 10, 50, 200),
    linear("chain.stages.linear", "chain.stages", 1, 11, 200, ".instructions"),
    // Factors that should not affect the cost of a request.
    ratio("curve.loaded.flat", "curve.loaded.us.at.200", "curve.loaded.us.at.1"),
    ratio("curve.rules.flat", "curve.rules.us.at.1000", "curve.rules.us.at.1"),
    ratio("curve.retired.flat", "curve.retired.us.at.300", "curve.retired.us.at.0"),
    ratio("chain.loaded.flat", "chain.loaded.200.instructions", "chain.stages.1.instructions"),
    ratio("chain.rules.flat", "chain.rules.1000.instructions", "chain.stages.1.instructions"),
    ratio("chain.retired.flat", "chain.retired.300.instructions", "chain.stages.1.instructions"),
    added("worker.busy.added.p99.us", "worker.busy.p99.us", "worker.busy.inprocess.p99.us"),
  ]

  /// The cost that a worker adds to a request in process.
  private static let crossings = ["set", "read1k", "read100k"].flatMap { kind in
    [1, 10].flatMap { stages in
      [1, 32].flatMap { concurrency in
        let name = "worker.\(kind).s\(stages).c\(concurrency)"
        return [
          added("\(name).added.us", "\(name).us", "\(name).inprocess.us"),
          added("\(name).added.wall.us", "\(name).wall.us", "\(name).inprocess.wall.us"),
          ratio("\(name).ratio", "\(name).us", "\(name).inprocess.us"),
        ]
      }
    }
  }

  /// The difference of two figures; 0 if the first one is smaller.
  private static func added(_ name: String, _ with: String, _ without: String) -> DerivedFigure {
    DerivedFigure(name: name, parts: [with, without]) { max(0, $0[0] - $0[1]) }
  }

  private static func ratio(_ name: String, _ above: String, _ below: String) -> DerivedFigure {
    DerivedFigure(name: name, parts: [above, below]) { $0[0] / $0[1] }
  }

  /// The slope between the last two of three points, divided by the slope between the first two.
  private static func linear(
    _ name: String, _ curve: String, _ first: Int, _ second: Int, _ third: Int, _ unit: String = ""
  ) -> DerivedFigure {
    DerivedFigure(name: name, parts: [first, second, third].map { "\(curve).\($0)\(unit)" }) { costs in
      (costs[2] - costs[1]) / Double(third - second) / ((costs[1] - costs[0]) / Double(second - first))
    }
  }
}
