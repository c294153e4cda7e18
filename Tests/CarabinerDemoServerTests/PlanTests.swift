import CarabinerWire
import Testing

@testable import CarabinerDemoServer

/// The validation errors of the demo server and their places.
@Suite("Demo server: validation")
struct PlanTests {
  private func problems(
    _ document: String, _ variables: JSONObject = [:], operation: String? = nil, limits: RequestLimits = RequestLimits()
  ) -> [GraphQLProblem] {
    do {
      _ = try RequestPlan(document: document, operationName: operation, variables: variables, limits: limits)
      return []
    } catch {
      return error.problems
    }
  }

  @Test(
    "a document that does not match the schema is refused, with the place",
    arguments: [
      ("{\n  boks { id }\n}", 2, 3, "Query has no field \"boks\""),
      ("{ book { id } }", 1, 3, "\"id\" of the field \"book\": it is missing"),
      ("{ book(id: null) { id } }", 1, 3, "null is not of type ID!"),
      ("{ book(id: true) { id } }", 1, 3, "true is not of type ID"),
      ("{ book(id: 1.5) { id } }", 1, 3, "1.5 is not of type ID"),
      ("{ book(id: 1, x: 2) { id } }", 1, 3, "no argument \"x\""),
      ("{ book(id: 1, id: 2) { id } }", 1, 3, "given twice"),
      ("{ books }", 1, 3, "add a selection of its fields"),
      ("{ failing { id } }", 1, 3, "has no fields"),
      ("{ books { id ...F } }", 1, 14, "no fragment \"F\""),
      ("{ ...F } fragment F on Query { ...F }", 1, 32, "contains itself"),
      ("{ ...F } fragment F on Nothing { a }", 1, 3, "no object, interface or union \"Nothing\""),
      ("{ books { ... on Author { id } } }", 1, 11, "a Book is never a Author"),
      ("{ search(text: \"a\") { id } }", 1, 23, "SearchResult has no field \"id\""),
      ("{ failing @include }", 1, 3, "\"if\" of the directive @include: it is missing"),
      ("{ failing @nonsense }", 1, 3, "no directive @nonsense"),
      ("{ failing @defer }", 1, 3, "fragments only"),
      ("{ failing @skip(if: true) @skip(if: true) }", 1, 3, "given twice"),
      ("{ a: failing a: secret }", 1, 14, "would be both failing and secret"),
      ("{ a: book(id: 1) { id } a: book(id: 2) { id } }", 1, 25, "different arguments"),
      ("{ books { a: id } ...F } fragment F on Query { books { a: title } }", 1, 56, "would be both"),
      ("{ books(filter: {genre: POETRY}) { id } }", 1, 3, "is not of type Genre"),
      ("{ books(filter: {genre: \"NOVEL\"}) { id } }", 1, 3, "is not of type Genre"),
      ("{ books(filter: {colour: 1}) { id } }", 1, 3, "BookFilter has no field \"colour\""),
      ("{ books(first: 2147483648) { id } }", 1, 3, "is not of type Int"),
      ("{ book(id: $id) { id } }", 1, 3, "declares no variable $id"),
      ("query ($id: String) { book(id: $id) { id } }", 1, 23, "is of type String, and ID! is expected"),
      ("{ shelf { __schema { description } } }", 1, 11, "Shelf has no field \"__schema\""),
      ("{ __schema { types } }", 1, 14, "add a selection of its fields"),
      ("{ __type { name } }", 1, 3, "\"name\" of the field \"__type\": it is missing"),
      ("query A { failing } query A { secret }", 1, 21, "two operations"),
      ("query A @x { failing }", 1, 1, "cannot have the directive @x"),
      ("subscription A { countdown b: countdown }", 1, 1, "exactly one field"),
      ("subscription A { __typename }", 1, 1, "exactly one field"),
      ("{ failing", 1, 10, "syntax error"),
    ])
  func refused(document: String, line: Int, column: Int, message: String) throws {
    let problems = problems(document, operation: document.hasPrefix("query A") || document.hasPrefix("subs") ? "A" : nil)
    let problem = try #require(problems.first { $0.message.contains(message) }, "\(problems)")
    #expect(problem.locations == [GraphQLPlaces.Place(line: line, column: column)])
  }

  @Test("a response shortens long names")
  func longName() throws {
    let problem = try #require(problems("{ \(String(repeating: "x", count: 100_000)) }").first)
    #expect(problem.json["message"]?.string?.count == 500)
  }

  @Test("all errors are reported at once")
  func several() {
    #expect(problems("{ a b books { c } book { id } }").count == 4)
  }

  @Test(
    "variables must match the declarations of the operation",
    arguments: [
      ("query ($a: Int!) { slow(seconds: 1) }", [:], "needs a value of type Int!"),
      ("query ($a: Int!) { slow }", ["a": nil], "null is not of type Int!"),
      ("query ($a: Int) { slow }", ["a": 1.5], "1.5 is not of type Int"),
      ("query ($a: Int) { slow }", ["a": "1"], "\"1\" is not of type Int"),
      ("query ($a: Genre) { slow }", ["a": "POETRY"], "is not of type Genre"),
      ("query ($a: [ID!]!) { slow }", ["a": [1, nil]], "null is not of type ID!"),
      ("query ($a: BookFilter) { slow }", ["a": ["since": true]], "true is not of type Int"),
      ("query ($a: BookFilter) { slow }", ["a": 1], "a number is not of type BookFilter"),
      ("query ($a: Book) { slow }", [:], "is not an input type"),
      ("query ($a: Colour) { slow }", [:], "there is no type \"Colour\""),
      ("query ($a: Int, $a: Int) { slow }", [:], "declared twice"),
      ("query ($a: Float! = 1) { slow(seconds: $a) }", ["a": nil], "null is not of type Float!"),
      ("query ($a: Float = 1) { slow(seconds: $a) }", ["a": nil], "variable $a is null"),
    ] as [(String, JSONObject, String)])
  func variables(document: String, values: JSONObject, message: String) {
    let problems = problems(document, values)
    #expect(problems.contains { $0.message.contains(message) }, "\(problems)")
  }

  @Test("the operation must be unambiguous")
  func operation() {
    #expect(problems("query A { slow } query B { slow }").first?.code == "OPERATION_RESOLUTION_FAILURE")
    #expect(problems("query A { slow }", operation: "B").first?.message.contains("\"B\"") == true)
    #expect(problems("fragment F on Query { slow }").first?.message.contains("no operation") == true)
    #expect(problems("query A { slow } query B { nothing }", operation: "A").isEmpty)
  }

  @Test("a document that selects too much is refused quickly, before it is executed")
  func limits() {
    let deep = String(repeating: "{ author { books ", count: 12) + "{ id }" + String(repeating: " } }", count: 12)
    #expect(problems("{ books \(deep) }").first?.code == "TOO_COMPLEX")
    // Each fragment doubles the previous one, which makes 2^30 fields.
    let bomb = (0..<15).map { "fragment F\($0) on Query { a: __typename ...F\($0 + 1) ...F\($0 + 1) }" }.joined(separator: "\n")
    #expect(problems("{ ...F0 }\n\(bomb)\nfragment F15 on Query { slow }").contains { $0.code == "TOO_COMPLEX" })
    #expect(problems("{ a: slow b: slow }", limits: RequestLimits(fields: 1)).map(\.code) == ["TOO_COMPLEX"])
    let values = "{ slow(seconds: " + String(repeating: "[", count: 300) + String(repeating: "]", count: 300) + ") }"
    #expect(problems(values).first?.code == "GRAPHQL_PARSE_FAILED")
  }
}
