import Carabiner
import CarabinerGenerator
import CarabinerSchema
import GeneratedSample
import TestTools
import Testing

@Suite("Generator: policies of the store")
struct StorePolicyTests {
  private let schema = """
    directive @typePolicy(keyFields: String!) on OBJECT | INTERFACE
    type Query { book: Book works: [Work] any: Any }
    interface Work { isbn: ID title: String }
    type Book implements Work { isbn: ID title: String author: Person }
    type Person { first: String last: String age: Int }
    union Any = Book | Person
    extend interface Work @typePolicy(keyFields: "isbn")
    extend type Person @typePolicy(keyFields: "first last")
    """

  private func text(_ document: String) throws -> String { try Sample.text(document, schema: try Schema(parsing: schema)) }

  @Test(
    "the key fields of @typePolicy are in the sent document and in the type", .rule("generate.10"),
    arguments: [
      ("book { title }", "book { __typename isbn title }"), ("book { title isbn }", "book { __typename title isbn }"),
      ("book { isbn @include(if: $a) }", "book { __typename isbn isbn @include(if: $a) }"),
      (
        "works { ... on Book { author { age } } }",
        "works { __typename isbn ... on Book { author { __typename first last age } } }"
      ),
      ("any { ... on Person { first } }", "any { __typename ... on Person { last first } }"),
      (
        "any { ... on Book { title } ... on Person { age } }",
        "any { __typename ... on Book { isbn title } ... on Person { first last age } }"
      ),
      (
        "any { ... on Book { title } ... on Person { age first: last } }",
        "any { __typename ... on Book { isbn title } ... on Person { age first: last } }"
      ),
      ("any { ... on Work { ... on Book { title } } }", "any { __typename ... on Work { isbn ... on Book { title } } }"),
      ("works { ... on Work { title } }", "works { __typename isbn ... on Work { title } }"),
    ])
  func documents(_ selection: String, _ sent: String) throws {
    let variables = selection.contains("$a") ? "($a: Boolean!)" : ""
    let text = try text("query A\(variables) { \(selection) }")
    #expect(text.contains("static let document = \"query A\(variables) { \(sent) }\""), "\(text)")
    #expect(!sent.contains("isbn") || text.contains("let isbn: ID?"))
  }

  @Test("key fields of different types are not selected in one place", .rule("generate.10"))
  func conflict() throws {
    let schema = """
      directive @typePolicy(keyFields: String!) on OBJECT
      type Query { any: Any }
      type A @typePolicy(keyFields: "id") { id: ID! a: Int }
      type B @typePolicy(keyFields: "id") { id: Int! b: Int }
      union Any = A | B
      """
    let text = try Sample.text("query Q { any { ... on A { a } ... on B { b } } }", schema: try Schema(parsing: schema))
    #expect(text.contains("any { __typename ... on A { a } ... on B { b } }"), "\(text)")
  }

  @Test("fragments have the key fields of their type", .rule("generate.10"))
  func fragments() throws {
    let text = try text("fragment F on Book { title author { age } }")
    #expect(text.contains("fragment F on Book { __typename isbn title author { __typename first last age } }"))
    #expect(text.contains("  let isbn: ID?\n  let title: String?\n"))
  }

  @Test("the policies of the schema are a constant, with the key fields of interfaces for each object type", .rule("generate.11"))
  func constant() throws {
    #expect(CacheKeyPolicy.generated.keyFields == ["Data": ["id"]])
    #expect(CacheKeyPolicy.generated.fieldPolicies == ["Query.book": .init(type: "Book", keyArguments: ["id"])])
    let text = try text("query A { book { title } }")
    #expect(text.contains("  keyFields: [\"Book\": [\"isbn\"], \"Person\": [\"first\", \"last\"]])\n"))
  }

  @Test(
    "a policy that does not fit the schema is a fault at its place", .rule("generate.11"),
    arguments: [
      ("type Query { a: Int } extend type Query @typePolicy(keyFields: \"id\")", "names id, which Query lacks"),
      ("type Query { a: Int } extend type Query @typePolicy(keyFields: \"\")", "names no key field"),
      ("type Query @fieldPolicy(forField: \"b\", keyArgs: \"id\") { a(id: ID): Int }", "@fieldPolicy needs a field of Query"),
      ("type Query @fieldPolicy(forField: \"a\", keyArgs: \"b\") { a(id: ID): Int }", "@fieldPolicy needs a field of Query"),
    ])
  func faults(_ schema: String, _ message: String) throws {
    let problems = try Sample.problems("query A { a }", schema: try Schema(parsing: schema))
    #expect(problems.count == 1 && problems[0].contains(message), "\(problems)")
  }
}
