internal import Foundation

/// What all rounds brought, and how it is shown.
struct Report {
  private var order: [String] = []
  private var values: [String: [Double]] = [:]
  /// Cases that did not run to their end, with the reason.
  private(set) var failures: [String: String] = [:]

  mutating func add(_ figures: [Figure]) {
    for figure in figures {
      if values[figure.name] == nil { order.append(figure.name) }
      values[figure.name, default: []].append(figure.value)
    }
  }

  mutating func fail(_ name: String, _ reason: String) { failures[name] = reason }

  private func median(_ name: String) -> Double? { values[name]?.median }

  /// Figures that are judged beside another of the same run.
  private var ratios: [(name: String, value: Double)] {
    Aim.ratios.compactMap { ratio in
      guard let above = median(ratio.figure), let below = median(ratio.peer), below > 0 else { return nil }
      return (ratio.name, above / below)
    }
  }

  // MARK: Table

  var table: String {
    var lines = [Self.line("figure", "median", "least", "most", "aim")]
    for name in order {
      guard let taken = values[name], let least = taken.min(), let most = taken.max() else { continue }
      lines.append(
        Self.line(name, Self.text(taken.median), Self.text(least), Self.text(most), Self.verdict(name, taken.median)))
    }
    for (name, value) in ratios { lines.append(Self.line(name, Self.text(value), "", "", Self.verdict(name, value))) }
    for (name, reason) in failures.sorted(by: { $0.key < $1.key }) { lines.append("\(name) FAILED: \(reason)") }
    return lines.joined(separator: "\n")
  }

  private static func verdict(_ name: String, _ value: Double) -> String {
    guard let most = Aim.most[name] else { return "" }
    return "\(value <= most ? "ok" : "MISSED") ≤ \(text(most))"
  }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.3f" : value < 1000 ? "%.1f" : "%.0f", value)
  }

  private static func line(_ columns: String...) -> String {
    zip(columns, [36, 12, 12, 12, 16]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
  }

  // MARK: JSON

  private struct Summary: Encodable {
    let median: Double
    let least: Double
    let most: Double
    let aim: Double?
  }

  private struct Document: Encodable {
    let figures: [String: Summary]
    let failures: [String: String]
  }

  /// `{"figures": {NAME: {median, least, most, aim}}, "failures": {CASE: REASON}}`
  func json() throws -> Data {
    var figures: [String: Summary] = [:]
    for (name, taken) in values {
      figures[name] = Summary(
        median: taken.median, least: taken.min() ?? .nan, most: taken.max() ?? .nan, aim: Aim.most[name])
    }
    for ratio in ratios {
      figures[ratio.name] = Summary(median: ratio.value, least: ratio.value, most: ratio.value, aim: Aim.most[ratio.name])
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(Document(figures: figures, failures: failures))
  }
}

/// What we want to reach.
enum Aim {
  /// The most a figure may be.
  static let most: [String: Double] = [
    "stage.c.noop.ns": 10, "stage.native.map.ns": 150, "stage.http.chunk.ns": 10, "stage.pending.us": 3,
    "chain.mock.us": 3, "chain.mock.allocs": 10, "chain.mock.typed.us": 3, "chain.mock.plain.us": 1,
    "fetch.c32.per_libcurl": 1.25, "cache.write_and_read1k.us": 10,
    "cache.write100k.us": 1000, "cache.read100k.us": 1000, "json.locate.per_simdjson": 1.5, "multipart.per_memchr": 2,
  ]

  /// Figures beside their peers.
  static let ratios = [
    (name: "fetch.c32.per_libcurl", figure: "fetch.c32.us", peer: "libcurl.c32.us"),
    (name: "fetch.c1.per_libcurl", figure: "fetch.c1.us", peer: "libcurl.c1.us"),
    (name: "transport.c32.per_libcurl", figure: "transport.c32.us", peer: "libcurl.c32.us"),
    (name: "fetch.c32.per_asynchttpclient", figure: "fetch.c32.us", peer: "asynchttpclient.c32.us"),
    (name: "json.parse.per_foundation", figure: "json.parse.ns_per_byte", peer: "json.parse.foundation.ns_per_byte"),
    (name: "json.locate.per_simdjson", figure: "json.locate.ns_per_byte", peer: "json.locate.simdjson.ns_per_byte"),
    (name: "multipart.per_memchr", figure: "multipart.ns_per_byte", peer: "multipart.memchr.ns_per_byte"),
  ]
}
