import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Validation of large documents")
struct DocumentValidationLimitsTests {
  private func problems(_ text: String) throws -> [DocumentProblem] {
    try DocumentValidator(schema: try Schema(parsing: InvalidDocument.schema)).problems(in: text)
  }

  @Test("2,000 fragments and fields that overlap are compared within the limit of steps", .rule("validate.2"))
  func overlaps() throws {
    let spreads = (0..<1_000).map { "...F\($0)" }.joined(separator: " ")
    let fragments = (0..<1_000).map { "fragment F\($0) on Dog { name owner { id } }" }.joined(separator: "\n")
    #expect(try problems("{ dog { \(spreads) } }\n\(fragments)") == [])
    #expect(try problems("{ dog { \(String(repeating: "name ", count: 20_000))} }") == [])
    let found = try problems("{ dog { \(spreads) owner { id: name } } }\n\(fragments)")
    #expect(found.map(\.rule).allSatisfy { $0 == .overlappingFieldsCanBeMerged } && !found.isEmpty, "\(found)")
  }

  @Test("fragments that contain each other many times are compared within the limit of steps", .rule("validate.2"))
  func nested() throws {
    let fragments = (0..<500).map { "fragment F\($0) on Human { friends { ...F\($0 + 1) } x: friends { ...F\($0 + 1) } }" }
    let text = "{ dog { owner { ...F0 } } }\n" + fragments.joined(separator: "\n") + "\nfragment F500 on Human { id }"
    #expect(try problems(text) == [])
  }

  @Test("a chain and a cycle of 10,000 fragments are followed", .rule("validate.1"))
  func chain() throws {
    let links = (0..<10_000).map { "fragment F\($0) on Dog { ...F\(($0 + 1) % 10_000) }" }
    let found = try problems("{ dog { ...F0 } }\n" + links.joined(separator: "\n"))
    #expect(found.map(\.rule) == [.noFragmentCycles] && found[0].locations.count == 10_000)
    let chain = links.dropLast() + ["fragment F9999 on Dog { name }"]
    #expect(try problems("{ dog { ...F0 } }\n" + chain.joined(separator: "\n")) == [])
  }

  @Test("problems end at the limit")
  func maximum() throws {
    #expect(try problems("{ \(String(repeating: "b ", count: 20_000))}").count == DocumentValidator.defaultMaximumProblems)
  }

  @Test("10,000 operations in one document are valid", .rule("validate.2"))
  func manyOperations() throws {
    let operations = (0..<10_000).map { "query Q\($0) { dog { ...F } }" }.joined(separator: "\n")
    #expect(try problems("\(operations)\nfragment F on Dog { name }").isEmpty)
  }

  @Test("a document that takes too many steps is a problem of its own")
  func tooComplex() throws {
    let operations = (0..<3_000).map { "query Q\($0) { dog { ...F0 } }" }.joined(separator: "\n")
    let fragments = (0..<3_000).map { "fragment F\($0) on Dog { \($0 < 2_999 ? "...F\($0 + 1)" : "name") }" }.joined(
      separator: "\n")
    let found = try problems("\(operations)\n\(fragments)")
    #expect(found.map(\.rule) == [.documentComplexity])
  }
}
