import CarabinerManifest
import CarabinerWire
import Foundation
import Testing

/// A schema of the table, with verdicts about some values.
struct SchemaGroup: Sendable, CustomTestStringConvertible {
  let schema: JSONValue
  let cases: [(value: JSONValue, isValid: Bool)]

  var testDescription: String { schema.description }

  static let path = "\(ManifestFixtures.folder)/schema-cases.json"

  static let all: [SchemaGroup] = {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8), let table = try? JSONValue(parsing: text) else {
      return []
    }
    return (table.array ?? []).map { group in
      SchemaGroup(
        schema: group["schema"] ?? .null,
        cases: (group["cases"]?.array ?? []).map { ($0["value"] ?? .null, $0["valid"]?.bool ?? false) })
    }
  }()
}

@Suite("Verdicts follow the specification")
struct SchemaVerdictTests {
  @Test("the table exists")
  func table() {
    #expect(SchemaGroup.all.count > 150)
    #expect(SchemaGroup.all.map(\.cases.count).reduce(0, +) > 500)
  }

  @Test("every value has the expected verdict", arguments: SchemaGroup.all)
  func verdicts(group: SchemaGroup) throws {
    let schema = try CompiledSchema(group.schema)
    for (value, isValid) in group.cases {
      let violations = schema.violations(in: value)
      #expect(violations.isEmpty == isValid, "\(value): \(violations)")
    }
  }

  @Test("Python's jsonschema has the same verdicts")
  func python() async throws {
    let verdicts = try await JSONOracle.verdicts(ofTable: SchemaGroup.path)
    #expect(verdicts == SchemaGroup.all.flatMap { $0.cases.map(\.isValid) })
  }

  @Test(
    "numbers are compared by their value and not by a rounding of it",
    arguments: [
      (#"{"multipleOf": 0.01}"#, "0.07", true), (#"{"multipleOf": 0.1}"#, "0.3", true), (#"{"multipleOf": 0.1}"#, "0.35", false),
      (#"{"multipleOf": 1e-8}"#, "0.00000001", true), (#"{"multipleOf": 7}"#, "7e300", true),
      (#"{"multipleOf": 7}"#, "1e300", false),
      (#"{"type": "integer"}"#, "1e400", true), (#"{"type": "integer"}"#, "1e-400", false),
      (#"{"maximum": 1e400}"#, "1e401", false),
      (#"{"maximum": 1e400}"#, "-1e500", true), (#"{"minimum": -1e-400}"#, "-1e-399", false), (#"{"const": 100}"#, "1E2", true),
      (#"{"const": 0}"#, "-0.0e5", true), (#"{"const": 0.1}"#, "0.10000000000000000001", false),
      (#"{"maximum": 1}"#, "1e99999999999999999999", false), (#"{"maximum": 1}"#, "1e-99999999999999999999", true),
    ])
  func exactNumbers(schema: String, value: String, isValid: Bool) throws {
    let schema = try CompiledSchema(JSONValue(parsing: schema))
    #expect(try schema.violations(in: JSONValue(parsing: value)).isEmpty == isValid)
  }
}
