import CarabinerGeneration
import TestTools
import Testing

@Suite("Generation: large inputs")
struct LargeInputTests {
  @Test("10,000 operations in one file are generated", .rule("generate.14"), .timeLimit(.minutes(5)))
  func manyOperations() throws {
    let text = (0..<10_000).map { "query Q\($0) { book { title } }\n" }.joined()
    let project = try Project(["A.graphql": text])
    #expect(try project.problems().isEmpty)
    #expect(try project.text("Generated/A.graphql.swift").contains("struct Q9999Query: GraphQLQuery"))
  }

  @Test("a document of 5 MB is generated", .rule("generate.14"), .timeLimit(.minutes(5)))
  func largeDocument() throws {
    let comment = "# " + String(repeating: "x", count: 98) + "\n"
    let fields = (0..<20_000).map { "a\($0): title\n" }.joined()
    let text = String(repeating: comment, count: 50_000) + "query A { book { \(fields) } }"
    let project = try Project(["A.graphql": text])
    #expect(try project.problems().isEmpty)
  }

  @Test("an enumeration of 5,000 values is generated", .rule("generate.14"), .timeLimit(.minutes(5)))
  func largeEnumeration() throws {
    let values = (0..<5000).map { "VALUE_\($0)" }.joined(separator: " ")
    let project = try Project(["A.graphql": "query A { book { genre } }"])
    try project.write("schema.graphqls", "type Query { book: Book } type Book { genre: Genre } enum Genre { \(values) }")
    #expect(try project.problems().isEmpty)
    #expect(try project.text("Generated/SchemaTypes.graphql.swift").contains("case value4999 = \"VALUE_4999\""))
  }

  @Test(
    "a change of one of 1,000 documents over a schema of 70,000 lines writes one file", .rule("generate.16"),
    .timeLimit(.minutes(5)))
  func manyDocuments() throws {
    func document(_ number: Int, _ fields: String = "id name") -> String {
      "query Q\(number) { objects\(1 + number % 500)(filter: {text: \"a\"}) { \(fields) } }"
    }
    var files = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("Q\($0).graphql", document($0)) })
    files["schema.graphqls"] = GeneratedSchema.text(lines: 70_000, seed: 3)
    let project = try Project(files)
    #expect(try project.generate().written.count { $0.hasPrefix("Generated/Q") } == 1000)
    try project.write("Q7.graphql", document(7, "id name field0"))
    #expect(try project.generate() == (["Generated/Q7.graphql.swift"], []))
  }

  @Test("documents beyond the limit are a fault", .rule("generate.14"))
  func tooLarge() throws {
    let project = try Project(["A.graphql": String(repeating: " ", count: 65 << 20)])
    let problems = try project.problems()
    #expect(problems.first?.hasPrefix("A.graphql:1:1: error: the file has more than") == true, "\(problems)")
  }
}
