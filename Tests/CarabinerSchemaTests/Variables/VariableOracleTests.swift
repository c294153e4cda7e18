import CarabinerSchema
import CarabinerWire
import Foundation
import TestTools
import Testing

/// Compares the verdicts over generated values with those of graphql-core, which follows graphql-js.
@Suite("The same problems of variables as graphql-core finds")
struct VariableOracleTests {
  @Test("random values have the same problems", .rule("validate.5"), arguments: [1, 2, 3])
  func sameProblems(seed: UInt64) async throws {
    var generator = RandomVariable(seed: seed)
    let cases = (0..<2_000).map { _ in generator.next() }
    let table: JSONValue = ["schema": .string(VariableSample.schema), "cases": .array(cases.map(\.json))]
    let folder = try FixturePlugin.Folder()
    let file = folder.file("variables.json")
    try Data(table.description.utf8).write(to: file)
    let script = Repository.root.appending(path: "Tests/Peers/variable_verdicts.py").path
    let run = try await ToolRun(Repository.python, [script, file.path])
    try #require(run.status == 0, "run Scripts/install-test-peers first; \(run.errors)")
    let lines = run.output.split(separator: "\n")
    try #require(lines.count == cases.count)
    var validator = VariableValidator(schema: try Schema(parsing: VariableSample.schema))
    validator.maximumProblems = 1_000
    var valid = 0
    for (sample, line) in zip(cases, lines) {
      let expected = Set(try JSONValue(parsing: String(line)).array?.compactMap(\.string) ?? [])
      let document = try GraphQLDocument(parsing: "query ($x: \(sample.type)\(sample.defaultText)) { a }")
      let problems = validator.problems(in: sample.variables, of: document.operations[0])
      let found = Set(problems.map(\.path))
      // An unknown field counts for `@oneOf` here, as in literals. graphql-core does not count it.
      let parents = Set(problems.filter { $0.message.hasPrefix("Pick has no field") }.map(\.parent))
      #expect(found.subtracting(parents) == expected.subtracting(parents), "\(sample.json)")
      if found.isEmpty { valid += 1 }
    }
    #expect((200...1_800).contains(valid), "\(valid) of \(cases.count) are valid")
  }
}

extension VariableProblem {
  /// The place of the object that a field is in.
  fileprivate var parent: String { String(path[..<(path.lastIndex(of: ".") ?? path.endIndex)]) }
}

/// Values for the types of the samples, with faults.
struct RandomVariable {
  /// A variable `$x` and its value.
  struct Case {
    let type: String
    let defaultValue: String?
    let variables: JSONObject

    var defaultText: String { defaultValue.map { " = \($0)" } ?? "" }
    var json: JSONValue {
      ["type": .string(type), "default": defaultValue.map { .string($0) } ?? .null, "variables": .object(variables)]
    }
  }

  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &generator)]
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  mutating func next() -> Case {
    let (type, defaultValue) = pick(Self.types)
    var variables: JSONObject = chance(5) ? ["y": 1] : [:]
    if chance(95) { variables["x"] = value(type, 0) }
    return Case(type: type, defaultValue: chance(30) ? defaultValue : nil, variables: variables)
  }

  /// A value that mostly fits a type.
  private mutating func value(_ type: String, _ depth: Int) -> JSONValue {
    if chance(4) { return pick(Self.values) }
    if type.hasSuffix("!") { return chance(3) ? .null : value(String(type.dropLast()), depth) }
    if chance(5) { return .null }
    if type.hasPrefix("[") {
      let element = String(type.dropFirst().dropLast())
      if chance(15) { return value(element, depth) }
      return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(element, depth) })
    }
    if let fields = Self.fields[type] { return object(fields, isOneOf: type == "Pick", depth) }
    return pick(Self.scalars[type] ?? Self.values)
  }

  private mutating func object(_ fields: [(name: String, type: String)], isOneOf: Bool, _ depth: Int) -> JSONValue {
    var object = JSONObject()
    if isOneOf {
      for _ in 0..<(chance(85) ? 1 : Int.random(in: 0...2, using: &generator)) {
        let field = pick(fields)
        object[field.name] = value(field.type, depth + 1)
      }
    } else {
      for field in fields {
        let isDeep = depth > 3 && (field.name == "inner" || field.name == "pick")
        if chance(field.type.hasSuffix("!") ? 96 : 40), !isDeep { object[field.name] = value(field.type, depth + 1) }
      }
    }
    if chance(6) { object[pick(["titel", "other", "Title", "id", "low"])] = pick(Self.values) }
    return .object(object)
  }

  private static let types: [(String, String?)] = [
    ("Int", "1"), ("Int!", "1"), ("Float", nil), ("String!", "\"a\""), ("Boolean", "null"), ("ID!", "5"), ("ID", nil),
    ("Genre", "NOVEL"), ("Genre!", nil), ("Date", nil), ("Date!", "{a: [1]}"), ("[Int!]", "[1]"), ("[[Int!]]", "1"),
    ("[[Int]!]!", nil), ("[Genre!]!", "NOVEL"), ("[Date]", nil), ("Filter", "{title: \"a\"}"), ("Filter!", nil), ("Filter!", nil),
    ("Filter", nil), ("[Filter!]", nil), ("[Filter]!", "[]"), ("Pick", "{id: 1}"), ("Pick!", nil), ("[Pick!]", nil),
    ("Range!", nil),
  ]
  private static let fields: [String: [(name: String, type: String)]] = [
    "Filter": [
      ("title", "String!"), ("genres", "[Genre!]"), ("limit", "Int!"), ("rating", "Float"), ("ids", "[ID!]"), ("inner", "Filter"),
      ("pick", "Pick"), ("matrix", "[[Int!]]"), ("on", "Date"), ("flag", "Boolean"), ("tags", "[String]!"),
    ],
    "Pick": [("id", "ID"), ("title", "String"), ("range", "Range")], "Range": [("low", "Int!"), ("high", "Int!")],
  ]
  private static let scalars: [String: [JSONValue]] = [
    "Int": [0, 1, -2_147_483_648, 2_147_483_647, number("2.0"), number("1e3"), number("-0.0")],
    "Float": [0, 1.5, number("1e300"), number("1152921504606846976")], "String": ["", "a", "1", "é"],
    "Boolean": [true, false], "ID": ["", "a", 7, number("123456789012345678901")], "Genre": ["NOVEL", "HORROR", "ESSAY"],
  ]
  private static let values: [JSONValue] = [
    .null, true, false, 0, 1, -1, 2_147_483_648, -2_147_483_649, 1.5, number("1e400"), number("1e10"), number("4.0"), "", "1",
    "NOVEL", "novel", "true", [], [1], ["a", nil], [:], ["a": 1], ["title": "a"], ["id": nil], ["id": 1, "title": nil],
    ["low": 1, "high": 2],
  ]

  private static func number(_ lexeme: String) -> JSONValue { JSONNumber(lexeme: lexeme).map { .number($0) } ?? .null }
}
