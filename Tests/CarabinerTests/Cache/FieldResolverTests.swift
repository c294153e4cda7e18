import Carabiner
import CarabinerWire
import TestTools
import Testing

@Suite("Normalised store: fields that find their objects")
struct FieldResolverTests {
  private let books = #"{"books":[{"__typename":"Book","shelf":"A","isbn":1},{"__typename":"Book","shelf":"A","isbn":2}]}"#

  private func store(_ policies: [String: CacheKeyPolicy.FieldPolicy], _ resolver: FieldResolver? = nil) async throws
    -> ApolloStore
  {
    let store = ApolloStore(
      policy: CacheKeyPolicy(keyFields: ["Book": ["shelf", "isbn"]], fieldPolicies: policies, fieldResolver: resolver))
    try await store.publish(books, for: .query("{ books { __typename shelf isbn } }"))
    return store
  }

  @Test(
    "arguments may be members of input objects", .rule("detail.16"),
    arguments: [
      (#"{ book(input: {place: {shelf: "A"}, isbn: 2}) { isbn } }"#, "{}"),
      ("query($in: In) { book(input: $in) { isbn } }", #"{"in":{"isbn":2,"place":{"shelf":"A"}}}"#),
      (#"query($n: Int) { book(input: {isbn: $n, place: {shelf: "A"}}) { isbn } }"#, #"{"n":2}"#),
    ])
  func paths(_ document: String, _ variables: String) async throws {
    let variables = try #require(try json(variables).object)
    let store = try await store(["Query.book": .init(type: "Book", keyArguments: ["input.place.shelf", "input.isbn"])])
    #expect(try await store.data(.query(document, variables)) == ["book": ["isbn": 2]])
  }

  @Test(
    "a path that leads nowhere is a miss", .rule("detail.16"),
    arguments: [
      "{ book { isbn } }", "{ book(input: 7) { isbn } }", "{ book(input: {isbn: 2}) { isbn } }",
      #"{ book(input: {isbn: null, place: {shelf: "A"}}) { isbn } }"#,
      #"{ book(input: {isbn: 9, place: {shelf: "A"}}) { isbn } }"#,
    ])
  func noPath(_ document: String) async throws {
    let store = try await store(["Query.book": .init(type: "Book", keyArguments: ["input.place.shelf", "input.isbn"])])
    #expect(try await store.data(.query(document)) == nil)
  }

  @Test(
    "a list beside another argument is a list of objects", .rule("detail.16"),
    arguments: [
      (#"{ some(shelf: "A", isbns: [2, 1]) { isbn } }"#, #"[{"isbn":2},{"isbn":1}]"#),
      (#"{ some(shelf: "A", isbns: []) { isbn } }"#, "[]"),
      (#"{ some(shelf: "A", isbns: [1, 9]) { isbn } }"#, nil), (#"{ some(shelf: ["A"], isbns: [1]) { isbn } }"#, nil),
    ] as [(String, String?)])
  func lists(_ document: String, _ expected: String?) async throws {
    let store = try await store(["Query.some": .init(type: "Book", keyArguments: ["shelf", "isbns"])])
    #expect(try await store.data(.query(document)) == expected.map { .object(["some": try json($0)]) })
  }

  @Test("the members of a list of input objects are a list", .rule("detail.16"))
  func listOfObjects() async throws {
    let store = try await store(["Query.some": .init(type: "Book", keyArguments: ["shelf", "inputs.isbn"])])
    let query = DynamicOperation.query(#"{ some(shelf: "A", inputs: [{isbn: 1}, {isbn: 2}]) { isbn } }"#)
    #expect(try await store.data(query) == (try json(#"{"some":[{"isbn":1},{"isbn":2}]}"#)))
  }

  @Test("a function in Swift finds objects too, where there is no policy", .rule("detail.16"))
  func function() async throws {
    let resolver = FieldResolver { field in
      switch (field.type, field.name) {
      case ("Query", "first"): .object(key: "Book:A+\(field.arguments["n"]?.description ?? "1")")
      case ("Book", "siblings"): .list(keys: ["Book:A+2", "Book:A+1"])
      default: nil
      }
    }
    let store = try await store(["Query.book": .init(type: "Book", keyArguments: ["shelf", "isbn"])], resolver)
    #expect(
      try await store.data(.query("query($n: Int = 2) { first(n: $n) { isbn siblings { isbn } } }"))
        == json(#"{"first":{"isbn":2,"siblings":[{"isbn":2},{"isbn":1}]}}"#))
    #expect(try await store.data(.query(#"{ book(shelf: "A", isbn: 1) { isbn } }"#)) == ["book": ["isbn": 1]])
    #expect(try await store.data(.query("{ other { isbn } }")) == nil)
    #expect(CacheKeyPolicy(fieldResolver: resolver) == CacheKeyPolicy(fieldResolver: resolver))
    #expect(CacheKeyPolicy(fieldResolver: resolver) != CacheKeyPolicy(fieldResolver: FieldResolver { _ in nil }))
  }
}
