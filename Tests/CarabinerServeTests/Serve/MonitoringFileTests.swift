import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The alerts and the dashboard that packages install.
@Suite("Files for Prometheus and Grafana")
struct MonitoringFileTests {
  private static let folder = Repository.root.appending(path: "Sources/Kits/monitoring")
  private static let alerts = folder.appending(path: "carabiner-alerts.yaml")

  private func dashboard() throws -> JSONValue {
    try JSONValue(parsing: [UInt8](Data(contentsOf: Self.folder.appending(path: "carabiner-dashboard.json"))))
  }

  /// The expressions of the dashboard, with values for the variables of Grafana.
  private func expressions() throws -> [String] {
    let dashboard = try dashboard()
    let targets = (dashboard["panels"]?.array ?? []).flatMap { $0["targets"]?.array ?? [] }
    return (targets + (dashboard["annotations"]?["list"]?.array ?? [])).compactMap { $0["expr"]?.string }
      .map { $0.replacing("$__rate_interval", with: "5m").replacing("$__interval", with: "1m") }
  }

  @Test("promtool accepts the alerts, and they fire when they should and not before")
  func alerts() async throws {
    let tests = try String(contentsOf: Repository.root.appending(path: "Tests/Monitoring/alerts-test.yaml"), encoding: .utf8)
    let file = try TemporaryFile(tests.replacing("@RULES@", with: Self.alerts.path))
    for arguments in [["check", "rules", Self.alerts.path], ["test", "rules", file.path]] {
      let run = try await ToolRun(Repository.promtool, arguments)
      #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
  }

  @Test("promtool accepts each expression of the dashboard")
  func dashboardExpressions() async throws {
    let expressions = try expressions()
    #expect(expressions.count > 30)
    let rules = expressions.enumerated().map { ["record": .string("check:\($0)"), "expr": .string($1)] as JSONValue }
    let groups: JSONValue = ["groups": [["name": "dashboard", "rules": .array(rules)]]]
    let file = try TemporaryFile(String(decoding: groups.serialized(), as: UTF8.self))
    let run = try await ToolRun(Repository.promtool, ["check", "rules", file.path])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
  }

  @Test("each metric in the files is one of the gateway")
  func names() throws {
    let sources = Repository.root.appending(path: "Sources")
    var known: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
    where path.hasSuffix(".swift") && (path.contains("Metric") || path.hasSuffix("ProcessMetrics.swift")) {
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      known.formUnion(text.matches(of: #/"((?:carabiner|process)_[a-z0-9_]+)"/#).map { String($0.1) })
    }
    let alerts = try String(contentsOf: Self.alerts, encoding: .utf8).split(separator: "\n").filter {
      !$0.contains("description:")
    }
    let used = Set(
      (try expressions() + alerts.map(String.init)).flatMap { $0.matches(of: #/\b(?:carabiner|process)_[a-z0-9_]+/#) }
        .map { String($0.0).replacing(#/_(bucket|sum|count)$/#, with: "") })
    #expect(used.count > 40)
    #expect(used.subtracting(known) == [])
  }
}
