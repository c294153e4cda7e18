import CarabinerSchema
import TestTools
import Testing

@Suite("Schemas: validation")
struct SchemaValidationTests {
  @Test("schema.4: names are unique and known, and do not begin with two underscores", arguments: InvalidSchema.names)
  func names(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("schema.4: each type has its place", arguments: InvalidSchema.types)
  func types(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("schema.4: interfaces are satisfied", arguments: InvalidSchema.interfaces)
  func interfaces(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("schema.4: input objects, default values and directives have an end", arguments: InvalidSchema.cycles)
  func cycles(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("schema.4: default values fit their types", arguments: InvalidSchema.values)
  func values(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("schema.4: directives are used as they are defined", arguments: InvalidSchema.directives)
  func directives(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  /// The schema has one problem, with the rule, the coordinate and the place of the mark.
  private func expectOnlyProblem(of invalid: InvalidSchema) throws {
    let parts = invalid.text.split(separator: "‸", omittingEmptySubsequences: false)
    let before = try #require(parts.count == 2 ? parts.first : nil).split(separator: "\n", omittingEmptySubsequences: false)
    let schema = try Schema(parsing: [SchemaSource(file: "s.graphqls", text: parts.joined())])
    let problems = schema.validate()
    #expect(problems.map(\.rule) == [invalid.rule], "\(problems)")
    let problem = try #require(problems.first)
    #expect(problem.coordinate == invalid.coordinate)
    #expect(problem.location == Schema.Location(file: "s.graphqls", line: before.count, column: (before.last?.count ?? 0) + 1))
    // The message says what to do after its last semicolon.
    #expect(problem.message.contains("; "))
    #expect(problem.description.hasPrefix("s.graphqls:\(before.count):"))
    #expect(problem.description.hasSuffix(" [\(invalid.rule.rawValue)]"))
  }

  @Test("schema.4: each rule has a schema that violates it")
  func completeness() {
    let all = [
      InvalidSchema.names, InvalidSchema.types, InvalidSchema.interfaces, InvalidSchema.cycles, InvalidSchema.values,
      InvalidSchema.directives,
    ].joined()
    #expect(Set(all.map(\.rule)) == Set(SchemaProblem.Rule.allCases))
  }

  @Test(
    "schema.4: a valid schema has no problem",
    arguments: [
      "type Query implements I { a(x: Int, y: Int = 1): Query! b: [Query!]! c: U } interface I { a(x: Int): I b: [I] c: U } union U = Query",
      "type Query implements J & I { a: Query } interface I implements J { a: J } interface J { a: J }",
      "type Query { a(x: [Int] = 1, y: [[Float!]] = [[1, 2.5]], z: ID = 3, t: T = {any: [0]}): Int } scalar T",
      "type Query { a(i: I = {i: {}}): Int } input I { i: I n: Int = 1 }",
      "type Query { a(i: I): Int } input I { i: [I!]! j: J! } input J { i: I }",
      "type Query { a(i: I): Int } input I @oneOf { i: I n: Int }",
      "type Query { a(i: I): Int } input I { i: I = {i: null} j: J = {} } input J { i: I = {i: null, j: null} }",
      "type Query { a(i: I): Int } input I { a: J = {} b: J = {n: 1} } input J { n: Int = 2 m: Int = 3 }",
      "type Query { a: Int @d(x: 1) } directive @d(x: Int @e) on FIELD_DEFINITION directive @e on ARGUMENT_DEFINITION",
      "type Query @d @d { a: Int @deprecated(reason: \"x\") } directive @d repeatable on OBJECT",
      "type Query implements I { a: Int } interface I { a: Int @deprecated }",
      "type Query { a: Int } directive @deprecated(reason: String = \"No longer supported\") on FIELD_DEFINITION scalar Int",
      "type Query { a: Int } extend schema @link directive @link on SCHEMA",
    ])
  func valid(_ text: String) throws {
    #expect(try Schema(parsing: text).validate() == [])
  }

  @Test("schema.4: a generated schema of 70,000 lines is valid, as a text and after printing")
  func generated() throws {
    let schema = try Schema(parsing: GeneratedSchema.text(lines: 70_000, seed: 11))
    #expect(schema.validate() == [])
  }

  @Test("schema.4: problems of a schema from introspection have no place", arguments: IntrospectionSample.all)
  func introspection(_ sample: IntrospectionSample) throws {
    #expect(try Schema(introspection: sample.result).validate() == [])
    let broken = try Schema(introspection: sample.result.replacing(#""name": "Query""#, with: #""name": "__Query""#))
    #expect(broken.validate().allSatisfy { $0.location == nil })
    #expect(broken.validate().contains { $0.rule == .reservedNames } == (sample.edition != 2018))
  }

  @Test("schema.4: all problems are reported, up to the limit")
  func several() throws {
    let text = "type Query { a: A b: B c(x: Int = \"\"): C } union U"
    #expect(
      try Schema(parsing: text).validate().map(\.rule) == [
        .knownTypeNames, .knownTypeNames, .knownTypeNames, .defaultValues, .nonEmptyTypes,
      ])
    #expect(try Schema(parsing: text).validate(limits: SchemaLimits(maximumProblems: 2)).count == 2)
    let many = "type Query {" + String(repeating: " a: Missing", count: 100_000) + "}"
    #expect(try Schema(parsing: many).validate().count == SchemaLimits.defaultMaximumProblems)
  }
}
