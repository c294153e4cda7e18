internal import CarabinerWire
internal import Foundation
internal import TestTools

/// The metrics of a gateway, parsed by Prometheus' own parser.
public struct ScrapedMetrics: Sendable {
  /// The problems that the parser found.
  public let problems: [String]
  private let metrics: JSONObject

  /// Reads the metrics from the admin socket of a gateway.
  public init(_ gateway: ServeProcess) async throws {
    let curl = try await ToolRun(
      URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", gateway.socket, "http://x/metrics"])
    try await self.init(text: curl.output)
  }

  /// Parses the text of metrics.
  public init(text: String) async throws {
    let script = Repository.root.appending(path: "Tests/Peers/prometheus_verdict.py").path
    let run = try await ToolRun(Repository.python, [script], input: text)
    let json = try JSONValue(
      parsing: run.output.isEmpty
        ? #"{"problems":["it cannot be parsed: \#(run.errors.debugDescription.dropFirst().dropLast())"]}"# : run.output)
    problems = json["problems"]?.array?.compactMap(\.string) ?? []
    metrics = json["figures"]?.object ?? [:]
  }

  /// The value of a series, its labels in the order of their names; nil if there is none.
  public subscript(_ series: String) -> Double? { metrics[series]?.double }

  /// The series whose names begin with a prefix.
  public func series(_ prefix: String) -> [String] { metrics.map(\.key).filter { $0.hasPrefix(prefix) } }
}
