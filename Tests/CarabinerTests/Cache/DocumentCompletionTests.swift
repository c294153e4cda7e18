import Carabiner
import CarabinerSchema
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Documents of typed operations include the fields that the store needs")
struct DocumentCompletionTests {
  private struct AnyQuery: GraphQLQuery {
    struct Data: Decodable, Sendable {}

    var operationName: String? { nil }
    let document: String
  }

  private static let schema = """
    schema { query: Root } type Root { hero(id: ID): Character any: [Thing!] me: User! version: Info }
    interface Character { id: ID! name: String } interface Node { key(of: Int!): ID! }
    type Human implements Character { id: ID! name: String home: Place } type Droid implements Character { id: ID! name: String }
    type Place { name: String } type User { login: ID! number: Int! name: String } type Info { id(x: Int!): ID! text: String }
    union Thing = Human | User
    """

  private func sent(
    _ document: String, policy: CacheKeyPolicy = .default, wireOptions: WireOptions = WireOptions()
  ) async throws -> String? {
    let transport = RecordingTransport(json: #"{"data":{}}"#)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        endpointURL: try #require(URL(string: "http://127.0.0.1:1/graphql")), httpTransport: transport,
        store: ApolloStore(policy: policy), wireOptions: wireOptions))
    _ = try await client.fetch(query: AnyQuery(document: document), cachePolicy: .networkOnly)
    let body = try #require(transport.requests.first?.httpBody)
    return try JSONValue(parsing: [UInt8](body))["query"]?.string
  }

  /// The same document with normalized white space.
  private func printed(_ document: String) throws -> String { try GraphQLDocument(parsing: document).description }

  @Test(
    "without a schema __typename is added to the selection set of each field", .rule("detail.14"),
    arguments: [
      ("{ a { b { c } } }", "{ a { b { c __typename } __typename } }"),
      (
        "{ a { ...F ... on T { d { e } } } } fragment F on T { f { g } h }",
        "{ a { ...F ... on T { d { e __typename } } __typename } } fragment F on T { f { g __typename } h }"
      ),
      (
        "subscription { ...F } fragment F on Subscription { a { b } }",
        "subscription { ...F } fragment F on Subscription { a { b __typename } }"
      ),
      ("{ a { t: __typename @include(if: true) b } }", "{ a { t: __typename @include(if: true) b } }"),
      ("{ __schema { types { name } } a { b } }", "{ __schema { types { name } } a { b __typename } }"),
    ])
  func typenames(_ document: String, _ expected: String) async throws {
    let sent = try #require(try await sent(document))
    if document.contains("t: __typename") {
      // No other field uses this name, so the plain field is added beside the alias.
      #expect(try GraphQLDocument(parsing: sent).description.contains("__typename\n"))
    } else {
      #expect(try printed(sent) == printed(expected))
    }
  }

  @Test(
    "with a schema the key fields of each type are added where the type has them", .rule("detail.14"),
    arguments: [
      ("{ hero { name } }", "{ hero { name __typename id } }"),
      (
        "{ any { ... on Human { name home { name } } ... on User { name } } }",
        "{ any { ... on Human { name home { name __typename } id } ... on User { name login number } __typename } }"
      ),
      ("{ me { name } version { text } }", "{ me { name __typename login number } version { text __typename } }"),
      ("{ me { login: name } }", "{ me { login: name __typename number } }"),
      ("{ hero { ...F } } fragment F on Droid { name }", "{ hero { ...F __typename id } } fragment F on Droid { name id }"),
    ])
  func keyFields(_ document: String, _ expected: String) async throws {
    let policy = CacheKeyPolicy(
      keyFields: ["User": ["login", "number"]], schema: try Schema(parsing: Self.schema))
    #expect(try printed(try #require(try await sent(document, policy: policy))) == printed(expected))
  }

  @Test("without a schema fragments on a type get the key fields that a policy names for it", .rule("detail.14"))
  func namedKeyFields() async throws {
    let policy = CacheKeyPolicy(keyFields: ["Book": ["isbn"]])
    let sent = try #require(try await sent("{ a { ... on Book { title } ... on Film { title } } }", policy: policy))
    #expect(try printed(sent) == printed("{ a { ... on Book { title isbn } ... on Film { title } __typename } }"))
  }

  @Test(
    "a document that is complete, invalid or must not be changed is sent unchanged", .rule("detail.14"),
    arguments: [("{ a  }", true), ("{ a { __typename   b } }", true), ("{ broken", true), ("{ a {b} }", false)])
  func untouched(_ document: String, _ completes: Bool) async throws {
    #expect(try await sent(document, wireOptions: WireOptions(completesDocuments: completes)) == document)
  }

  @Test("a dynamic operation is sent as it is", .rule("detail.14"))
  func dynamicOperations() async throws {
    let transport = RecordingTransport(json: #"{"data":{"a":{"b":1}}}"#)
    for try await _ in try ApolloClient.testing(transport).results(of: DynamicOperation(document: "{ a {b} }")) {}
    let body = try #require(transport.requests.first?.httpBody)
    #expect(try JSONValue(parsing: [UInt8](body))["query"] == "{ a {b} }")
  }

  @Test("typed results of a completed document are objects of the store, and watchers see their changes", .rule("detail.14"))
  func watched() async throws {
    let store = ApolloStore(policy: CacheKeyPolicy(schema: try Schema(parsing: Self.schema)))
    let transport = RecordingTransport(json: #"{"data":{"hero":{"name":"R2-D2","__typename":"Droid","id":"1"}}}"#)
    let client = try ApolloClient.testing(transport, store: store)
    var results = client.watch(HeroQuery()).makeAsyncIterator()
    #expect(try await results.next()?.data?.hero?.name == "R2-D2")
    #expect(try await store.keys() == ["Droid:1", "QUERY_ROOT"])
    try await store.publish(
      #"{"x":{"__typename":"Droid","id":"1","name":"C-3PO"}}"#, for: .query("{ x { __typename id name } }"))
    #expect(try await results.next()?.data?.hero?.name == "C-3PO")
    #expect(transport.requests.count == 1)
  }
}
