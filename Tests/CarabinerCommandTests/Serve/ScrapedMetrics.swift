import CarabinerWire
import Foundation
import TestTools

/// The metrics of a gateway, parsed by Prometheus' own parser.
struct ScrapedMetrics {
  /// The problems that the parser found.
  let problems: [String]
  private let figures: JSONObject

  init(_ gateway: ServeProcess) async throws {
    let curl = try await ToolRun(
      URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", gateway.socket, "http://x/metrics"])
    try await self.init(text: curl.output)
  }

  init(text: String) async throws {
    let script = Repository.root.appending(path: "Tests/Peers/prometheus_verdict.py").path
    let run = try await ToolRun(Repository.python, [script], input: text)
    let json = try JSONValue(
      parsing: run.output.isEmpty
        ? #"{"problems":["it cannot be parsed: \#(run.errors.debugDescription.dropFirst().dropLast())"]}"# : run.output)
    problems = json["problems"]?.array?.compactMap(\.string) ?? []
    figures = json["figures"]?.object ?? [:]
  }

  /// The value of a series, its labels in the order of their names; nil if there is none.
  subscript(_ series: String) -> Double? { figures[series]?.double }

  /// The series whose names begin with a prefix.
  func series(_ prefix: String) -> [String] { figures.map(\.key).filter { $0.hasPrefix(prefix) } }
}
