import CarabinerSchema
import TestTools
import Testing

@Suite("Schemas: validation")
struct SchemaValidationTests {
  @Test("names are unique and known, and do not begin with two underscores", .rule("schema.4"), arguments: InvalidSchema.names)
  func names(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("each type has its place", .rule("schema.4"), arguments: InvalidSchema.types)
  func types(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("interfaces are satisfied", .rule("schema.4"), arguments: InvalidSchema.interfaces)
  func interfaces(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("input objects, default values and directives have an end", .rule("schema.4"), arguments: InvalidSchema.cycles)
  func cycles(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("default values fit their types", .rule("schema.4"), arguments: InvalidSchema.values)
  func values(_ schema: InvalidSchema) throws { try expectOnlyProblem(of: schema) }

  @Test("directives are used as they are defined", .rule("schema.4"), arguments: InvalidSchema.directives)
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

  @Test("each rule has a schema that violates it", .rule("schema.4"))
  func completeness() {
    let all = [
      InvalidSchema.names, InvalidSchema.types, InvalidSchema.interfaces, InvalidSchema.cycles, InvalidSchema.values,
      InvalidSchema.directives,
    ].joined()
    #expect(Set(all.map(\.rule)) == Set(SchemaProblem.Rule.allCases))
  }

  @Test(
    "a valid schema has no problem", .rule("schema.4"),
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

  @Test("a generated schema of 70,000 lines is valid, as a text and after printing", .rule("schema.4"))
  func generated() throws {
    let schema = try Schema(parsing: GeneratedSchema.text(lines: 70_000, seed: 11))
    #expect(schema.validate() == [])
  }

  @Test("problems of a schema from introspection have no place", .rule("schema.4"), arguments: IntrospectionSample.all)
  func introspection(_ sample: IntrospectionSample) throws {
    #expect(try Schema(introspection: sample.result).validate() == [])
    let broken = try Schema(introspection: sample.result.replacing(#""name": "Query""#, with: #""name": "__Query""#))
    #expect(broken.validate().allSatisfy { $0.location == nil })
    #expect(broken.validate().contains { $0.rule == .reservedNames } == (sample.edition != 2018))
  }

  @Test("all problems are reported, up to the limit", .rule("schema.4"))
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
