import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Validation of large variables")
struct VariableValidationLimitsTests {
  @Test("problems end at the limit", .rule("validate.5"))
  func maximum() throws {
    let list = "[\(String(repeating: "{}, ", count: 100_000)){}]"
    let found = try VariableSample.problems("$x: [Filter], $y: Int!", #"{"x": \#(list)}"#)
    #expect(found.count == DocumentValidator.defaultMaximumProblems && found.last?.path == "x[99]")
    let few = try VariableSample.problems("$x: [Filter]", #"{"x": \#(list)}"#) { $0.maximumProblems = 3 }
    #expect(few.count == 3)
  }

  @Test("values as deep as JSON may be are checked without deep calls", .rule("validate.5"))
  func deep() throws {
    let depth = JSONLimits.highestMaximumDepth - 2
    let text =
      String(repeating: #"{"title": "a", "inner": "#, count: depth) + "1" + String(repeating: "}", count: depth)
    let value = try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: JSONLimits.highestMaximumDepth))
    let validator = VariableValidator(schema: try Schema(parsing: VariableSample.schema))
    let operation = try GraphQLDocument(parsing: "query ($x: Filter, $y: [Date]) { a }").operations[0]
    let found = validator.problems(in: ["x": value, "y": value], of: operation)
    #expect(found.map(\.message) == ["1 is not of type Filter"])
    #expect(found.first?.path == "x" + String(repeating: ".inner", count: depth))
  }

  @Test("messages and places are short for long names and values", .rule("validate.5"))
  func short() throws {
    let long = String(repeating: "e\u{301}", count: 100_000)
    let found = try VariableSample.problems("$x: Int, $y: Filter", #"{"x": "\#(long)", "y": {"title": "a", "\#(long)": 1}}"#)
    #expect(found.count == 2 && found.allSatisfy { $0.description.utf8.count < 300 })
  }

  @Test("a short value of an input object with many fields takes a short time", .rule("validate.5"))
  func wide() throws {
    let fields = (0..<20_000).map { "f\($0): Int" }.joined(separator: " ")
    let validator = VariableValidator(schema: try Schema(parsing: "type Query { a: Int } input Wide { g: Int! \(fields) }"))
    let operation = try GraphQLDocument(parsing: "query ($x: [Wide]) { a }").operations[0]
    let list = JSONValue.array(Array(repeating: ["g": 1, "f19999": 2], count: 100_000))
    #expect(validator.problems(in: ["x": list], of: operation) == [])
  }
}
