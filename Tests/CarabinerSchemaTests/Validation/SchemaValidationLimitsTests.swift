import CarabinerSchema
import TestTools
import Testing

@Suite("Schemas: validation of hostile schemas")
struct SchemaValidationLimitsTests {
  private static let links = 10_000

  /// Definitions that each refer to the next, and the last one to the first.
  private static func ring(_ definition: (Int, Int) -> String) -> String {
    "type Query { a: Int }\n" + (0..<links).map { definition($0, ($0 + 1) % links) }.joined(separator: "\n")
  }

  @Test(
    "a cycle of ten thousand links is one problem with a short message", .rule("schema.6"),
    arguments: [
      (SchemaProblem.Rule.inputObjectCycles, ring { "input I\($0) { next: I\($1)! }" }),
      (.inputObjectCycles, ring { "input I\($0) @oneOf { next: I\($1) }" }),
      (.defaultValueCycles, ring { "input I\($0) { next: I\($1) = {} }" }),
      (.directiveCycles, ring { "directive @d\($0)(x: Int @d\($1)) on ARGUMENT_DEFINITION" }),
    ])
  func cycles(_ rule: SchemaProblem.Rule, _ text: String) throws {
    let problems = try Schema(parsing: text).validate()
    #expect(problems.map(\.rule) == [rule])
    #expect(problems.allSatisfy { $0.message.utf8.count < 300 && $0.message.contains("and 9995 more") })
  }

  @Test("ten thousand interfaces in a ring are found among the problems", .rule("schema.6"))
  func interfaces() throws {
    let problems = try Schema(parsing: Self.ring { "interface I\($0) implements I\($1) { a: Int }" }).validate(
      limits: SchemaLimits(maximumProblems: 100_000))
    #expect(problems.filter { $0.rule == .interfaceCycles }.count == 1)
  }

  @Test("an input with ten thousand fields and as many objects in default values is validated in linear time", .rule("schema.6"))
  func defaultValues() throws {
    let fields = (0..<Self.links).map { "f\($0): [I] = [{}]" }.joined(separator: " ")
    let problems = try Schema(parsing: "type Query { a: Int } input I { \(fields) }").validate()
    #expect(problems.map(\.rule) == [.defaultValueCycles])
    let safe = (0..<Self.links).map { "f\($0): [J] = [{}, {f0: 1}]" }.joined(separator: " ")
    let numbers = (0..<Self.links).map { "f\($0): Int = 1" }.joined(separator: " ")
    #expect(try Schema(parsing: "type Query { a: Int } input I { \(safe) } input J { \(numbers) }").validate() == [])
  }
}
