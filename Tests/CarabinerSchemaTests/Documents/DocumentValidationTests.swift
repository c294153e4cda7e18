import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Validation of documents")
struct DocumentValidationTests {
  private static let schema = try? Schema(parsing: InvalidDocument.schema)

  private func problems(_ text: String, _ change: (inout DocumentValidator) -> Void = { _ in }) throws -> [DocumentProblem] {
    var validator = DocumentValidator(schema: Self.schema)
    change(&validator)
    return try validator.problems(in: text)
  }

  @Test("the schema of the samples is valid", .rule("validate.1"))
  func schema() throws { #expect(try #require(Self.schema).validate() == []) }

  @Test(
    "each rule has its problem, with the places of all parts that do not fit", .rule("validate.1"),
    arguments: InvalidDocument.definitions + InvalidDocument.fields + InvalidDocument.values + InvalidDocument.directives)
  func invalid(_ sample: InvalidDocument) throws {
    var places: [GraphQLPlaces.Place] = []
    for (line, text) in sample.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      for (marks, part) in text.split(separator: "‸", omittingEmptySubsequences: false).dropLast().enumerated() {
        let before = text[..<part.endIndex].count
        places.append(GraphQLPlaces.Place(line: line + 1, column: before + 1 - marks))
      }
    }
    let found = try problems(sample.text.replacing("‸", with: ""))
    #expect(found.map(\.rule) == [sample.rule], "\(found)")
    let sorted = found.first.map { $0.locations.sorted { ($0.line, $0.column) < ($1.line, $1.column) } }
    #expect(sorted == places, "\(found)")
  }

  @Test("there is an invalid sample for each rule", .rule("validate.1"))
  func allRules() {
    let samples = InvalidDocument.definitions + InvalidDocument.fields + InvalidDocument.values + InvalidDocument.directives
    let rules = Set(samples.map(\.rule)).union([.knownOperationTypes, .documentComplexity])
    #expect(Set(DocumentProblem.Rule.allCases).subtracting(rules) == [])
  }

  @Test(
    "valid documents have no problem", .rule("validate.1"),
    arguments: [
      "{ a s __typename }", "query A { a } query B { s }", "{ n(x: 1, y: 1) @skip(if: true) }",
      "{ pet { name ... on Dog { barks } ... on Cat { meows } ...F } } fragment F on Pet { owner { id } }",
      "{ any { __typename ... on Human { name } ... on Pet { name } } }",
      "query ($x: Int!, $y: Int = 2) { n(x: $x, y: $y) }", "query ($x: Int) { n(x: 1) pets(first: $x) { name } }",
      "query ($x: Int = 1) { n(x: $x) }", "query ($d: Date) { date(on: $d) }",
      "{ date(on: {any: [1, \"a\", RED, null]}) }", "{ tags(in: \"a\") }", "{ tags(in: [\"a\", null]) }",
      "query ($t: String!) { tags(in: [[$t]]) }", "query ($t: [[String!]!]!) { tags(in: $t) }",
      "{ find(by: {name: \"a\", tags: \"b\", nested: {name: \"c\", limit: 3}}) { name } }",
      "{ one(by: {id: 1}) { name } }", "query ($i: ID!) { one(by: {id: $i}) { name } }",
      "{ color(is: RED) id(id: 5) float(f: 5) }",
      "{ x: a x: a dog { x: name } dog { x: name age } }", "{ pet { ... on Dog { x: name } ... on Cat { x: name } } }",
      "{ pet { ... on Dog { x: owner { y: name } } ... on Cat { x: owner { y: name z: id } } } }",
      "{ find(by: {name: \"a\", limit: 1}) { name } find(by: {limit: 1, name: \"a\"}) { name } }",
      "subscription { tick tick }", "subscription { pet { name } ... { pet { owner { id } } } }",
      "subscription ($b: Boolean!) { pet { ... @defer(if: $b) { name } } }",
      "{ dog { ... @defer(label: \"a\") { name } ...F @defer(label: \"b\") } pets @stream(initialCount: 2) { name } } fragment F on Dog { age }",
      "{ a @many @many @needs(x: 1) @onField }", "query A @onQuery { a }", "mutation { set { ... @defer { name } } all }",
      "{ __schema { types { name fields(includeDeprecated: true) { name type { kind ofType { name } } } } } __type(name: \"Dog\") { name } }",
      "\"about\" query A(\"the number\" $x: Int!) { n(x: $x) } ",
      "{ dog { ...F } } \"about\" fragment F on Dog { name }",
    ])
  func valid(_ text: String) throws { #expect(try problems(text) == []) }

  @Test("an operation that the schema lacks is a problem", .rule("validate.1"))
  func unknownOperation() throws {
    let validator = DocumentValidator(schema: try Schema(parsing: "type Query { a: Int }"))
    let found = try validator.problems(in: "query A { a }\n  mutation B { b }")
    #expect(
      found.map(\.rule) == [.knownOperationTypes] && found[0].locations == [GraphQLPlaces.Place(line: 2, column: 3)], "\(found)")
  }

  @Test(
    "a problem suggests the name that was probably meant", .rule("validate.3"),
    arguments: [
      ("{ dog { nam } }", "Dog has no field nam (did you mean name?)"),
      ("{ pet { barks } }", "Pet has no field barks (did you mean to use it in a fragment on Dog?)"),
      ("{ pet { ... on Dogg { name } } }", "the schema has no type Dogg (did you mean Dog?)"),
      ("{ pets(frist: 1) { name } }", "Query.pets has no argument frist (did you mean first?)"),
      ("{ color(is: GREN) }", "GREN is not of type Color (did you mean GREEN?)"),
      ("{ a @onFeld }", "the schema has no directive @onFeld (did you mean onField?)"),
      ("{ find(by: {name: \"a\", limt: 1}) { name } }", "Find has no field limt (did you mean limit?)"),
      (
        "query ($first: Int) { n(x: 1) pets(first: $frist) { name } }",
        "the operation declares no variable $frist (did you mean first?); declare it"
      ),
      (
        "{ dog { ...Part } } fragment Parts on Dog { name }",
        "there is no fragment Part (did you mean Parts?); define it, or remove the spread"
      ),
    ])
  func suggestions(text: String, message: String) throws {
    let found = try problems(text)
    #expect(found.contains { $0.message == message }, "\(found)")
    let silent = try problems(text) { $0.suggestsNames = false }
    #expect(!silent.isEmpty && silent.allSatisfy { !$0.message.contains("did you mean") }, "\(silent)")
  }

  @Test("without a schema the rules apply that need none", .rule("validate.4"))
  func withoutSchema() throws {
    let validator = DocumentValidator(schema: nil)
    let text = """
      query ($x: Any) { a @skip { b(v: [$y]) } x: a x: b ... on Thing { c @other(a: 1, a: 2) } ...F }
      fragment F on Thing { ...F }
      fragment F on Other { d }
      fragment G on Other { d }
      """
    let rules = Set(try validator.problems(in: text).map(\.rule))
    #expect(
      rules == [
        .uniqueFragmentNames, .noUnusedFragments, .noFragmentCycles, .uniqueArgumentNames, .noUndefinedVariables,
        .noUnusedVariables,
        .providedRequiredArguments,
      ])
    #expect(try validator.problems(in: "query A($x: Int) { a(x: $x) b @include(if: true) ...F } fragment F on T { c }") == [])
  }
}
