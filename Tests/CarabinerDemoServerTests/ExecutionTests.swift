import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@testable import CarabinerDemoServer

/// The execution of valid documents by the demo server.
@Suite("Demo server: execution")
struct ExecutionTests {
  private func run(
    _ document: String, _ variables: JSONObject = [:], library: Library = Library(), limits: RequestLimits = RequestLimits(),
    context: RequestContext = RequestContext()
  ) async throws -> JSONValue {
    let plan = try RequestPlan(document: document, operationName: nil, variables: variables, limits: limits)
    var executor = Executor(library: library, context: context, limits: limits)
    return .object(await executor.result(of: plan, on: plan.type == .mutation ? .mutation : .query))
  }

  private func data(_ document: String, _ variables: JSONObject = [:]) async throws -> JSONValue {
    let result = try await run(document, variables)
    #expect(result["errors"] == nil, "\(result)")
    return result["data"] ?? .null
  }

  @Test(
    "queries return their fields in the order of the document",
    arguments: [
      ("{ book(id: 2) { year title } }", #"{"book":{"year":1961,"title":"Solaris"}}"#),
      ("{ book(id: \"9\") { year } }", #"{"book":null}"#),
      ("{ booksByID(ids: [3, \"9\", 1]) { id } }", #"{"booksByID":[{"id":"3"},null,{"id":"1"}]}"#),
      ("{ booksByID(ids: 3) { id } }", #"{"booksByID":[{"id":"3"}]}"#),
      ("{ b: book(id: 1) { subtitle rating } }", #"{"b":{"subtitle":null,"rating":4.5}}"#),
      ("{ author(id: \"a1\") { books { id } born } }", #"{"author":{"books":[{"id":"1"},{"id":"4"}],"born":1929}}"#),
      (
        "{ books(first: 1) { id ...F author { name } } } fragment F on Node { id __typename }",
        #"{"books":[{"id":"1","__typename":"Book","author":{"name":"Ursula K. Le Guin"}}]}"#
      ),
      (
        "{ search(text: \"le\") { __typename ... on Book { title } ... on Author { name } } }",
        #"{"search":[{"__typename":"Book","title":"The Left Hand of Darkness"},{"__typename":"Book","title":"The Tale of Genji"},{"__typename":"Author","name":"Ursula K. Le Guin"},{"__typename":"Author","name":"Stanisław Lem"},{"__typename":"Author","name":"Octavia E. Butler"}]}"#
      ),
      (
        "{ node(id: \"a2\") { __typename id ... on Author { name } ... on Book { title } } }",
        #"{"node":{"__typename":"Author","id":"a2","name":"Stanisław Lem"}}"#
      ),
      ("{ books(filter: {genre: NOVEL, since: 1900}) { id } }", #"{"books":[{"id":"3"}]}"#),
      (
        "{ book(id: 1) { author { id } } book(id: 1) { author { name } id } }",
        #"{"book":{"author":{"id":"a1","name":"Ursula K. Le Guin"},"id":"1"}}"#
      ),
      ("{ node(id: 1) { ... on Book { a: title } ... on Author { a: name } } }", #"{"node":{"a":"The Left Hand of Darkness"}}"#),
      ("{ __typename book(id: 1) @skip(if: true) { id } }", #"{"__typename":"Query"}"#),
    ])
  func queries(document: String, expected: String) async throws {
    #expect(try await data(document).description == expected)
  }

  @Test(
    "the introspection result has the schema, by the query of each edition", .rule("schema.2", "generate.14"),
    arguments: IntrospectionQuery.Edition.allCases)
  func introspection(edition: IntrospectionQuery.Edition) async throws {
    let result = try await run(IntrospectionQuery(edition).document)
    #expect(try Schema(introspection: result) == .library)
  }

  @Test(
    "a type is described by its name, also one of introspection",
    arguments: [
      (
        "{ __type(name: \"Genre\") { __typename kind name fields { name } } }",
        #"{"__type":{"__typename":"__Type","kind":"ENUM","name":"Genre","fields":null}}"#
      ),
      (
        "{ __type(name: \"SearchResult\") { possibleTypes { name } } }",
        #"{"__type":{"possibleTypes":[{"name":"Book"},{"name":"Author"}]}}"#
      ),
      (
        "{ __type(name: \"__EnumValue\") { ...F } } fragment F on __Type { fields { name } }",
        #"{"__type":{"fields":[{"name":"name"},{"name":"description"},{"name":"isDeprecated"},{"name":"deprecationReason"}]}}"#
      ),
      ("{ __type(name: \"Nothing\") { name } }", #"{"__type":null}"#),
    ])
  func describedType(document: String, expected: String) async throws {
    #expect(try await data(document).description == expected)
  }

  @Test("a variable has its value or its default; otherwise the argument's default is used")
  func variables() async throws {
    let document = "query ($f: Int = 2, $i: Boolean! = false) { books(first: $f) { id year @include(if: $i) } }"
    #expect(try await data(document)["books"]?.array?.count == 2)
    #expect(try await data(document, ["f": 1, "i": true]).description == #"{"books":[{"id":"1","year":1969}]}"#)
    #expect(try await data("query ($f: Int = 3) { books(first: $f) { id } }")["books"]?.array?.count == 3)
    let filter = "query ($b: BookFilter, $g: Genre) { a: books(filter: $b) { id } b: books(filter: {genre: $g}) { id } }"
    let both = try await data(filter, ["b": ["title": "SOL"], "g": "ESSAY"])
    #expect(both.description == #"{"a":[{"id":"2"}],"b":[{"id":"4"}]}"#)
    #expect(try await data(filter)["b"]?.array?.count == 5)
  }

  @Test("a field's error has message, place, path and code, and makes the field null")
  func fieldError() async throws {
    let result = try await run("{\n  x: failing\n  book(id: 1) { id }\n}")
    #expect(
      result.description
        == #"{"data":{"x":null,"book":{"id":"1"}},"errors":[{"message":"this field always fails","locations":[{"line":2,"column":3}],"path":["x"],"extensions":{"code":"BROKEN"}}]}"#
    )
  }

  @Test("an error in a non-null field makes its nearest nullable parent null")
  func bubbling() async throws {
    let shelf = try await run("{ shelf { room label } }")
    #expect(shelf["data"]?.description == #"{"shelf":null}"#)
    #expect(shelf["errors"]?[0]?["path"]?.description == #"["shelf","label"]"#)
    let whole = try await run("{ book(id: 1) { id } slow(seconds: -1) }")
    #expect(whole["data"] == .null)
    #expect(whole["errors"]?.array?.count == 1)
  }

  @Test("mutations run in order and are kept")
  func mutations() async throws {
    let library = Library()
    let result = try await run(
      """
      mutation ($t: String!) {
        renameBook(id: 2, title: $t) { title }
        borrowBook(id: 2, by: "Ann") { borrower isBorrowed }
        returnBook(id: 2) { isBorrowed title }
      }
      """, ["t": "Солярис"], library: library)
    #expect(
      result.description
        == #"{"data":{"renameBook":{"title":"Солярис"},"borrowBook":{"borrower":"Ann","isBorrowed":true},"returnBook":{"isBorrowed":false,"title":"Солярис"}}}"#
    )
    #expect(try await run("{ book(id: 2) { title } }", library: library)["data"]?["book"]?["title"] == "Солярис")
  }

  @Test(
    "a mutation that fails returns the reason",
    arguments: [
      ("renameBook(id: 9, title: \"a\") { id }", "NOT_FOUND"), ("renameBook(id: 1, title: \"\") { id }", "BAD_USER_INPUT"),
      ("returnBook(id: 1) { id }", "NOT_BORROWED"), ("borrowBook(id: 9, by: \"a\") { id }", "NOT_FOUND"),
      ("a: borrowBook(id: 1, by: \"a\") { id } b: borrowBook(id: 1, by: \"b\") { id }", "BORROWED"),
    ])
  func refusedMutations(fields: String, code: String) async throws {
    let result = try await run("mutation { \(fields) }")
    #expect(result["data"] == .null)
    #expect(result["errors"]?[0]?["extensions"]?["code"]?.string == code)
  }

  @Test("the secret needs a token, and headers are echoed")
  func tokensAndHeaders() async throws {
    let document = "{ secret echoHeader(name: \"X-A\") none: echoHeader(name: \"X-B\") }"
    #expect(try await run(document)["errors"]?[0]?["extensions"]?["code"] == "UNAUTHENTICATED")
    let known = RequestContext(isAuthenticated: true, headers: ["x-a": "1"])
    let data = try await run(document, context: known)["data"]
    #expect(data?["secret"]?.string?.isEmpty == false)
    #expect(data?["echoHeader"] == "1")
    #expect(data?["none"] == .null)
  }

  @Test("slow waits for the given time, within limits", arguments: [(0.25, true), (-1, false), (31, false), (1e300, false)])
  func slow(seconds: Double, isGood: Bool) async throws {
    let pauses = Pauses()
    let context = RequestContext(pause: { await pauses.note($0) })
    let result = try await run(
      "query ($s: Float!) { slow(seconds: $s) }", ["s": JSONValue(floatLiteral: seconds)], context: context)
    #expect((result["errors"] == nil) == isGood)
    #expect(await pauses.all == (isGood ? [.seconds(seconds)] : []))
  }

  @Test("a result that is too large is cut off")
  func tooLarge() async throws {
    let result = try await run("{ books { author { books { id } } } }", limits: RequestLimits(values: 20))
    #expect(result["data"] == .null)
    #expect(result["errors"]?.array?.count == 1)
    #expect(result["errors"]?[0]?["extensions"]?["code"] == "TOO_COMPLEX")
  }
}

/// The requested pauses.
actor Pauses {
  private(set) var all: [Duration] = []

  func note(_ duration: Duration) { all.append(duration) }
}
