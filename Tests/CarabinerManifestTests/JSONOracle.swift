import CarabinerWire
import Foundation
import TestTools
import Testing

/// The verdicts of Python's jsonschema package, as an independent reference.
enum JSONOracle {
  /// Whether each value is valid.
  static func verdicts(_ schema: JSONValue, _ values: [JSONValue], in folder: FixturePlugin.Folder) async throws -> [Bool] {
    let table: JSONValue = [["schema": schema, "cases": .array(values.map { ["value": $0] })]]
    let file = folder.file("table.json")
    try Data(table.description.utf8).write(to: file)
    return try await verdicts(ofTable: file.path)
  }

  /// Whether each value in a table of schemas is valid.
  static func verdicts(ofTable path: String) async throws -> [Bool] {
    let run = try await ToolRun(
      Repository.python, [Repository.root.appending(path: "Tests/Peers/schema_verdicts.py").path, path])
    try #require(run.status == 0, "run Scripts/install-test-peers first; \(run.errors)")
    return run.output.split(separator: "\n").map { $0 == "valid" }
  }
}
