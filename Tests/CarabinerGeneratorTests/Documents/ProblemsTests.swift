import CarabinerGenerator
import CarabinerSchema
import TestTools
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

  @Test("faults name their file, line and column", .rule("generate.1"))
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

  @Test(
    "each fault names its place, what to do, and the other places", .rule("generate.1"),
    arguments: [
      ("query A { books { titel } }", "1:19: error: Book has no field titel (did you mean title?) [FieldsOnCorrectType]"),
      ("query A { books { zzzzzz } }", "1:19: error: Book has no field zzzzzz; correct the name, or fetch the schema again"),
      ("query A { book(id: null) { id } }", "1:20: error: null is not of type ID!; write a text in quotes or a whole number ["),
      ("query A { books(first: \"1\") { id } }", "1:24: error: \"1\" is not of type Int; write a whole number of 32 bits ["),
      (
        "query A($id: ID) { book(id: $id) { id } }",
        "is expected here; declare it as ID! [VariablesInAllowedPosition], with a:1:9"
      ),
      ("query A { book { id } }", "Query.book needs the argument id, of type ID!; add it [ProvidedRequiredArguments]"),
      ("query A @include(if: true) { books { id } }", "QUERY; it is for FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT ["),
      ("query A { x: book(id: 1) { id } x: book(id: 2) { id } }", "one has the arguments id:1, and one the arguments id:2; give"),
      ("query A { x: book(id: 1) { id } x: book(id: 2) { id } }", "[OverlappingFieldsCanBeMerged], with a:1:33"),
      ("query A { books { x titel: title y: titel x: id } }", "1:19: error: Book has no field x"),
      ("query A($x: Id) { books { id } }", "1:13: error: the schema has no type Id (did you mean ID?) [KnownTypeNames]"),
      ("query A { }", "1:11: error: a selection set is not empty; add a field, or remove the braces"),
      (
        "query A {\n  books { id }\n",
        "3:1: error: the document ends within the selection set that begins at 1:9; close it with }"
      ),
      ("query A { book(id: 1 { id } }", "1:22: error: expected an argument or \")\", found \"{\""),
    ])
  func remedies(_ document: String, _ message: String) throws {
    let found = try problems([("a", document)])
    #expect(found.contains { $0.contains(message) }, "\(found)")
    #expect(!found.contains { $0.contains("Overlapping") && $0.contains("Book.x") }, "\(found)")
  }

  @Test("two operations of one name name both files", .rule("generate.1"))
  func otherFile() throws {
    let found = try problems([("a.graphql", "query A { books { id } }"), ("b.graphql", "\n query A { books { id } }")])
    #expect(found.first?.hasSuffix("rename one [UniqueOperationNames], with b.graphql:2:8") == true, "\(found)")
  }

  @Test("each text that cannot be parsed has its fault", .rule("generate.1"))
  func syntax() throws {
    let found = try problems([("a.graphql", "query A {"), ("b.graphql", "query B { books { id } }"), ("c.graphql", "x")])
    #expect(found.map { $0.prefix(9) } == ["a.graphql", "c.graphql"], "\(found)")
  }

  @Test("an invalid schema is refused", .rule("generate.1"))
  func schema() throws {
    let schema = try Schema(parsing: [SchemaSource(file: "s.graphqls", text: "type Query { a: B }")])
    #expect(try Sample.problems("query A { a }", schema: schema).first?.hasPrefix("s.graphqls:1:17: error: ") == true)
  }

  @Test("fragments with cycles, and thousands of levels, are problems and not traps", .rule("generate.3"))
  func badInput() throws {
    #expect(try Sample.problems("query A { books { ...F } } fragment F on Book { ...G } fragment G on Book { ...F }") != [])
    let chain = (0..<5000).map { "fragment F\($0) on Book { id ...F\($0 + 1) }" }.joined(separator: "\n")
    let found = try Sample.problems("query A { books { ...F0 } }\n" + chain + "\nfragment F5000 on Book { id }")
    #expect(found.contains { $0.contains("nested deeper than") }, "\(found.prefix(3))")
  }

  @Test("fragments that would be read exponentially often are refused", .rule("generate.3"))
  func readingCost() throws {
    let pairs = (0..<30).map { level in
      ["A", "B"].map { "fragment \($0)\(level) on Book { ...A\(level + 1) ...B\(level + 1) }" }
    }.flatMap(\.self).joined(separator: "\n")
    let ends = "\nfragment A30 on Book { id } fragment B30 on Book { title }"
    let found = try Sample.problems("query A { books { ...A0 ...B0 } }\n" + pairs + ends)
    #expect(
      found.first?.hasPrefix("A.graphql:1:1: error: an object would have more than 100000 members") == true, "\(found.prefix(3))")
  }

  @Test("merging stays within its limit of steps", .rule("generate.3"))
  func steps() throws {
    let pairs = (0..<20).map { level in
      ["A", "B"].map { "fragment \($0)\(level) on Book { related { ... on Book { ...A\(level + 1) ...B\(level + 1) } } }" }
    }.flatMap(\.self).joined(separator: "\n")
    let ends = "\nfragment A20 on Book { id } fragment B20 on Book { title }"
    let found = try Sample.problems("query A { books { ...A0 } }\n" + pairs + ends) { $0.maximumSteps = 100_000 }
    #expect(found.allSatisfy { $0.contains("steps") }, "\(found.prefix(3))")
  }
}
