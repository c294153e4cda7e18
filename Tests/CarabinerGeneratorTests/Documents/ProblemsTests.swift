import CarabinerGenerator
import CarabinerSchema
import Testing

@Suite("Generator: problems")
struct ProblemsTests {
  private func problems(_ files: [(String, String)]) throws -> [String] {
    do {
      _ = try CodeGenerator(schema: try Sample.schema())
        .files(for: files.map { DocumentSource(file: $0.0, text: $0.1) })
      return []
    } catch let error as GeneratorError {
      return error.problems.map(\.description)
    }
  }

  @Test("generate.1: faults name their file, line and column")
  func places() throws {
    let found = try problems([
      ("b.graphql", "fragment F on Book {\n  titel\n}"), ("a.graphql", "query A { books { ...F } }\r\n"),
      ("c.graphql", "query C {\n books { author } }"),
    ])
    #expect(found.count == 2, "\(found)")
    #expect(found.first?.hasPrefix("b.graphql:2:3: error: ") == true, "\(found)")
    #expect(found.first?.contains("title") == true, "\(found)")
    #expect(found.last?.hasPrefix("c.graphql:2:10: error: ") == true, "\(found)")
  }

  @Test("generate.1: each text that cannot be parsed has its fault")
  func syntax() throws {
    let found = try problems([("a.graphql", "query A {"), ("b.graphql", "query B { books { id } }"), ("c.graphql", "x")])
    #expect(found.map { $0.prefix(9) } == ["a.graphql", "c.graphql"], "\(found)")
  }

  @Test("generate.1: an invalid schema is refused")
  func schema() throws {
    let schema = try Schema(parsing: [SchemaSource(file: "s.graphqls", text: "type Query { a: B }")])
    #expect(try Sample.problems("query A { a }", schema: schema).first?.hasPrefix("s.graphqls:1:17: error: ") == true)
  }

  @Test("generate.3: fragments with cycles, and thousands of levels, are problems and not traps")
  func badInput() throws {
    #expect(try Sample.problems("query A { books { ...F } } fragment F on Book { ...G } fragment G on Book { ...F }") != [])
    let chain = (0..<5000).map { "fragment F\($0) on Book { id ...F\($0 + 1) }" }.joined(separator: "\n")
    let found = try Sample.problems("query A { books { ...F0 } }\n" + chain + "\nfragment F5000 on Book { id }")
    #expect(found.contains { $0.contains("nested deeper than") }, "\(found.prefix(3))")
  }

  @Test("generate.3: fragments that would be read exponentially often are refused")
  func readingCost() throws {
    let pairs = (0..<30).map { level in
      ["A", "B"].map { "fragment \($0)\(level) on Book { ...A\(level + 1) ...B\(level + 1) }" }
    }.flatMap(\.self).joined(separator: "\n")
    let ends = "\nfragment A30 on Book { id } fragment B30 on Book { title }"
    let found = try Sample.problems("query A { books { ...A0 ...B0 } }\n" + pairs + ends)
    #expect(
      found.first?.hasPrefix("A.graphql:1:1: error: an object would have more than 100000 members") == true, "\(found.prefix(3))")
  }

  @Test("generate.3: merging stays within its limit of steps")
  func steps() throws {
    let pairs = (0..<20).map { level in
      ["A", "B"].map { "fragment \($0)\(level) on Book { related { ... on Book { ...A\(level + 1) ...B\(level + 1) } } }" }
    }.flatMap(\.self).joined(separator: "\n")
    let ends = "\nfragment A20 on Book { id } fragment B20 on Book { title }"
    let found = try Sample.problems("query A { books { ...A0 } }\n" + pairs + ends) { $0.maximumSteps = 100_000 }
    #expect(found.allSatisfy { $0.contains("steps") }, "\(found.prefix(3))")
  }
}
