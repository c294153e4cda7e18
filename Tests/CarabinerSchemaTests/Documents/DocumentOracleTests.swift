import CarabinerSchema
import CarabinerWire
import Foundation
import TestTools
import Testing

/// Compares the verdicts over generated documents with those of graphql-core, which follows graphql-js.
@Suite("The same problems of documents as graphql-core finds")
struct DocumentOracleTests {
  /// A rule and the places that a problem names.
  struct Verdict: Hashable, CustomStringConvertible {
    let rule: String
    let places: [[Int]]

    var description: String { "\(rule) \(places)" }
  }

  /// Rules of which only the name is compared: graphql-core names pairs of fields and we name groups, it finds another way around a cycle,
  /// and it leaves out places of some literals or adds spreads.
  private static let namesOnly: Set<String> = [
    "OverlappingFieldsCanBeMerged", "ValuesOfCorrectType", "DeferStreamDirectiveOnValidOperations", "NoFragmentCycles",
  ]
  /// Rules that are not compared if another one is violated too. We report one problem for a variable without a type for values, and
  /// graphql-core does not look at all parts of fragments that cannot apply, or at fields with `@skip(if: true)`.
  private static let consequences: [String: Set<String>] = [
    "VariablesInAllowedPosition": ["VariablesAreInputTypes"], "DeferStreamDirectiveOnRootField": impossible,
    "DeferStreamDirectiveOnValidOperations": impossible, "OverlappingFieldsCanBeMerged": impossible,
    "SingleFieldSubscriptions": ["SingleFieldSubscriptions"],
  ]
  private static let impossible: Set<String> = [
    "FragmentsOnCompositeTypes", "KnownFragmentNames", "KnownTypeNames", "PossibleFragmentSpreads",
  ]

  private static let incremental = """
    directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @stream(if: Boolean! = true, label: String, initialCount: Int! = 0) on FIELD

    """

  @Test("random documents have the same problems", .rule("validate.1"), arguments: [1, 2, 3])
  func sameProblems(seed: UInt64) async throws {
    var generator = RandomDocument(seed: seed)
    let documents = (0..<300).map { _ in generator.document() }
    let table: JSONValue = [
      "schema": .string(Self.incremental + InvalidDocument.schema), "documents": .array(documents.map { .string($0) }),
    ]
    let folder = try FixturePlugin.Folder()
    let file = folder.file("documents.json")
    try Data(table.description.utf8).write(to: file)
    let script = Repository.root.appending(path: "Tests/Peers/document_verdicts.py").path
    let run = try await ToolRun(Repository.python, [script, file.path])
    try #require(run.status == 0, "run Scripts/install-test-peers first; \(run.errors)")
    let lines = run.output.split(separator: "\n")
    try #require(lines.count == documents.count)
    var validator = DocumentValidator(schema: try Schema(parsing: InvalidDocument.schema))
    validator.maximumProblems = 1_000
    var compared = 0
    for (document, line) in zip(documents, lines) {
      guard let verdicts = try JSONValue(parsing: String(line)).array else { continue }
      var expected = Set(verdicts.map(Self.verdict))
      var found = Set(try validator.problems(in: document).map(Self.verdict))
      let rules = Set((expected.union(found)).map(\.rule))
      for (rule, causes) in Self.consequences where !causes.isDisjoint(with: rules) {
        expected = expected.filter { $0.rule != rule }
        found = found.filter { $0.rule != rule }
      }
      #expect(
        found == expected, "\(document)\nonly here: \(found.subtracting(expected)), only there: \(expected.subtracting(found))")
      compared += 1
    }
    #expect(compared > 250)
  }

  private static func verdict(_ problem: JSONValue) -> Verdict {
    let rule = problem["rule"]?.string ?? ""
    let places = (problem["places"]?.array ?? []).map { ($0.array ?? []).compactMap { $0.number?.int } }
    return Verdict(rule: rule, places: namesOnly.contains(rule) ? [] : places)
  }

  private static func verdict(_ problem: DocumentProblem) -> Verdict {
    let places = Set(problem.locations.map { [$0.line, $0.column] }).sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }
    return Verdict(rule: problem.rule.rawValue, places: namesOnly.contains(problem.rule.rawValue) ? [] : places)
  }
}

/// Documents for the schema of the samples, with faults.
struct RandomDocument {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &generator)]
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  mutating func document() -> String {
    var definitions: [String] = []
    for number in 0..<(chance(80) ? 1 : 2) {
      let type = pick(["query", "query", "query", "mutation", "subscription"])
      let name = chance(70) ? "Q\(chance(90) ? number : 0)" : ""
      let variables =
        chance(40) ? "(\((0...Int.random(in: 0...2, using: &generator)).map { _ in variable() }.joined(separator: ", ")))" : ""
      definitions.append("\(type) \(name)\(variables) \(directives("@onQuery"))\(set(root(type), 0))")
    }
    for number in 0..<Int.random(in: 0...3, using: &generator) {
      let type = pick(["Dog", "Pet", "Human", "Query", "Any", "Cat", "Color", "Bird"])
      definitions.append("fragment F\(number) on \(type) \(set(type, 1))")
    }
    return definitions.joined(separator: "\n")
  }

  private func root(_ type: String) -> String {
    switch type {
    case "mutation": "Mutation"
    case "subscription": "Subscription"
    default: "Query"
    }
  }

  private mutating func variable() -> String {
    let type = pick(["Int", "Int!", "String", "ID!", "Boolean!", "[String!]", "[[String]]", "Find", "Color", "Pet", "Bird"])
    let value = chance(20) ? " = \(pick(["1", "\"a\"", "null", "true", "RED"]))" : ""
    return "$\(pick(["x", "y", "z"])): \(type)\(value)"
  }

  private mutating func set(_ type: String, _ depth: Int) -> String {
    "{ \((0...Int.random(in: 0...2, using: &generator)).map { _ in selection(type, depth) }.joined(separator: " ")) }"
  }

  private mutating func selection(_ type: String, _ depth: Int) -> String {
    if chance(15) { return "...F\(Int.random(in: 0...3, using: &generator))\(directives("@defer(label: \"a\")"))" }
    if chance(20), depth < 4 {
      let condition = chance(80) ? pick([type, type, "Dog", "Cat", "Pet", "Human", "Any", "Color"]) : ""
      return
        "... \(condition.isEmpty ? "" : "on \(condition) ")\(directives("@defer"))\(set(condition.isEmpty ? type : condition, depth + 1))"
    }
    let fields = Self.fields[type] ?? ["name"]
    let field = chance(93) ? pick(fields) : pick(["nothing", "barks", "a", "__typename", "__schema"])
    let alias = chance(15) ? "\(pick(["x", "y"])): " : ""
    let inner = chance(95) ? Self.inner[field] : pick(["Dog", nil])
    let below = inner.map { depth < 5 ? " " + set($0, depth + 1) : " { __typename }" } ?? ""
    return "\(alias)\(field)\(arguments(of: field))\(directives("@stream"))\(below)"
  }

  private mutating func directives(_ other: String) -> String {
    if chance(88) { return "" }
    return pick([
      "@skip(if: true)", "@include(if: $x)", "@skip", "@onField", "@many @many", "@nothing", "@needs(x: 1)", other,
      "@onField @onField",
    ])
      + " "
  }

  private mutating func arguments(of field: String) -> String {
    guard let names = Self.arguments[field], chance(90) else { return chance(97) ? "" : "(x: 1)" }
    let given = names.filter { _ in chance(90) }.map { "\($0): \(value(0))" }
    return given.isEmpty ? "" : "(\(given.joined(separator: ", ")))"
  }

  private mutating func value(_ depth: Int) -> String {
    if depth < 2, chance(20) { return "[\(value(depth + 1)), \(value(depth + 1))]" }
    if depth < 3, chance(30) {
      return
        "{\(pick(["name", "limit", "id", "tags"])): \(value(depth + 1)), \(pick(["name", "nested", "limit"])): \(value(depth + 1))}"
    }
    return pick(["1", "2147483648", "1.5", "\"a\"", "true", "null", "RED", "BLUE", "$x", "$y", "$z"])
  }

  private static let fields = [
    "Query": [
      "a", "s", "n", "pet", "dog", "cat", "any", "pets", "list", "find", "one", "color", "date", "tags", "flag", "float", "id",
    ],
    "Mutation": ["set", "all"], "Subscription": ["tick", "pet", "ticks"], "Pet": ["name", "owner"],
    "Dog": ["name", "owner", "barks", "volume", "age"], "Cat": ["name", "owner", "meows", "volume", "age"],
    "Human": ["name", "id", "friends"], "Any": ["__typename"],
  ]
  private static let inner = [
    "pet": "Pet", "dog": "Dog", "cat": "Cat", "any": "Any", "pets": "Pet", "find": "Pet", "one": "Pet", "set": "Pet",
    "owner": "Human",
    "friends": "Human",
  ]
  private static let arguments = [
    "n": ["x", "y"], "pets": ["first"], "find": ["by"], "one": ["by"], "color": ["is"], "date": ["on"], "tags": ["in"],
    "flag": ["on"],
    "float": ["f"], "id": ["id"], "friends": ["first"], "barks": ["loud"],
  ]
}
