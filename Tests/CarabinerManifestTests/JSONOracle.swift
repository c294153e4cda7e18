import CarabinerWire
import Foundation
import TestTools
import Testing

/// What Python's jsonschema package says, which had no part in ours.
enum JSONOracle {
  /// Whether each value fits the schema.
  static func verdicts(_ schema: JSONValue, _ values: [JSONValue], in folder: FixturePlugin.Folder) async throws -> [Bool] {
    let table: JSONValue = [["schema": schema, "cases": .array(values.map { ["value": $0] })]]
    let file = folder.file("table.json")
    try Data(table.description.utf8).write(to: file)
    return try await verdicts(ofTable: file.path)
  }

  /// Whether each value of a table of schemas fits its schema.
  static func verdicts(ofTable path: String) async throws -> [Bool] {
    let run = try await ToolRun(
      Repository.python, [Repository.root.appending(path: "Tests/Peers/schema_verdicts.py").path, path])
    try #require(run.status == 0, "run Scripts/install-test-peers first; \(run.errors)")
    return run.output.split(separator: "\n").map { $0 == "valid" }
  }
}
