import CarabinerWire
import Foundation
import Testing

/// What Python's jsonschema package says, which had no part in ours.
enum JSONOracle {
  /// Whether each value fits the schema.
  static func verdicts(_ schema: JSONValue, _ values: [JSONValue], in folder: FixturePlugin.Folder) throws -> [Bool] {
    let table: JSONValue = [["schema": schema, "cases": .array(values.map { ["value": $0] })]]
    let file = folder.file("table.json")
    try Data(table.description.utf8).write(to: file)
    return try verdicts(ofTable: file.path)
  }

  /// Whether each value of a table of schemas fits its schema.
  static func verdicts(ofTable path: String) throws -> [Bool] {
    let process = Process()
    let python =
      ProcessInfo.processInfo.environment["CARABINER_TEST_PYTHON"]
      ?? FixturePlugin.root.appending(path: ".build/test-peers/bin/python").path
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [python, "\(FixturePlugin.root.path)/Tests/Peers/schema_verdicts.py", path]
    let (output, complaint) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = complaint
    try process.run()
    let answer = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let reason = String(decoding: try complaint.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "run Scripts/install-test-peers first; \(reason)")
    return answer.split(separator: "\n").map { $0 == "valid" }
  }
}
