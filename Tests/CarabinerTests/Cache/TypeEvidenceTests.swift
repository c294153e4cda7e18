import Carabiner
import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Normalised store: which fragments apply")
struct TypeEvidenceTests {
  private let store = ApolloStore()

  @Test(
    "of two fragments that give one name to different fields, only that of the object's type is kept", .rule("detail.1"),
    arguments: [
      ("... on Human { name: fullName } ... on Droid { name: model }", "model", "fullName"),
      ("... on Human { name(full: true) } ... on Droid { name(full: false) }", "name(full:false)", "name(full:true)"),
      ("... on Being { ... on Human { name: fullName } } ...D", "model", "fullName"),
      ("... on Droid { name: model } ... on Human { ... @include(if: true) { name: fullName } }", "model", "fullName"),
    ])
  func rivals(_ fragments: String, _ own: String, _ other: String) async throws {
    let query = DynamicOperation.query(
      "{ hero { __typename id \(fragments) } } fragment D on Droid { name: model }"
        .replacing(fragments.contains("...D") ? "###" : "fragment D on Droid { name: model }", with: ""))
    try await store.publish(#"{"hero":{"__typename":"Droid","id":1,"name":"R2"}}"#, for: query)
    let record = try #require(try await store.record("Droid:1"))
    #expect(record[own] == "R2")
    #expect(record[other] == nil)
    #expect(try await store.data(query) == json(#"{"hero":{"__typename":"Droid","id":1,"name":"R2"}}"#))
    #expect(try await store.data(.query("{ hero { x: fullName } }")) == nil)
  }

  @Test("fragments that ask for different fields under one name of an object below are on two types too", .rule("detail.1"))
  func rivalsBelow() async throws {
    let query = DynamicOperation.query(
      "{ hero { __typename id ... on Human { home { n: name } } ... on Droid { home { n: maker } } } }")
    let data = #"{"hero":{"__typename":"Droid","id":1,"home":{"n":"Tatooine"}}}"#
    try await store.publish(data, for: query)
    #expect(try await store.record("Droid:1.home") == ["maker": "Tatooine"])
    #expect(try await store.data(query) == json(data))
  }

  @Test("without __typename neither of two such fragments is taken for the object's, and the network is asked", .rule("detail.1"))
  func rivalsWithoutType() async throws {
    let query = DynamicOperation.query("{ hero { id ... on Human { name: fullName } ... on Droid { name: model } } }")
    try await store.publish(#"{"hero":{"id":1,"name":"R2"}}"#, for: query)
    #expect(try await store.record("QUERY_ROOT.hero") == ["id": 1])
    #expect(try await store.data(query) == nil)
  }

  @Test("a fragment on exactly the object's type applies though a field of it is late or missing", .rule("detail.1"))
  func exactType() async throws {
    let query = DynamicOperation.query("{ hero { __typename id ... on Human { height mass } } }")
    try await store.publish(#"{"hero":{"__typename":"Human","id":1,"height":2}}"#, for: query)
    #expect(try await store.record("Human:1") == ["__typename": "Human", "id": 1, "height": 2])
    #expect(try await store.data(query) == nil)
    #expect(try await store.data(.query("{ hero { ... on Human { height } } }"))?["hero"]?["height"] == 2)
  }

  @Test("the type is found under an alias", .rule("detail.1"))
  func aliasedType() async throws {
    let query = DynamicOperation.query("{ hero { t: __typename id ... on Human { n: fullName } ... on Droid { n: model } } }")
    try await store.publish(#"{"hero":{"t":"Droid","id":1,"n":"R2"}}"#, for: query)
    #expect(try await store.record("Droid:1")?["model"] == "R2")
    #expect(try await store.record("Droid:1")?["fullName"] == nil)
  }

  @Test(
    "with a schema the possible types of interfaces and unions are exact", .rule("detail.1"),
    arguments: [
      ("Human", "Character", true), ("Droid", "Character", true), ("Ship", "Character", false), ("Ship", "SearchResult", true),
      ("Planet", "SearchResult", false), ("Human", "Droid", false), ("Human", "Human", true),
    ])
  func schema(_ type: String, _ condition: String, _ applies: Bool) async throws {
    let schema = try Schema(
      parsing: """
        "A schema" schema @link(url: "x") { query: Root }
        directive @link(url: String!) repeatable on SCHEMA | OBJECT
        type Root { search(text: String! = "a", first: Int): [SearchResult!]! }
        \"\"\" Beings \"\"\" interface Character implements Node { id: ID! "A name" name: String }
        interface Node { id: ID! }
        type Human implements Character & Node @key(fields: "id") { id: ID! name: String height: Float }
        type Droid implements Node, Character { id: ID! name: String }
        type Ship { id: ID! name: String } type Planet { id: ID! }
        union SearchResult = | Human | Droid
        extend union SearchResult = Ship
        enum Unit { METRE @deprecated FOOT } input Filter { unit: Unit = METRE, names: [String!] } scalar Date
        """)
    let store = ApolloStore(policy: CacheKeyPolicy(schema: schema))
    // The name is selected inside and outside the fragment, so the fields of the response do not show the type.
    let query = DynamicOperation.query("{ a { __typename id name ... on \(condition) { name } } }")
    try await store.publish(#"{"a":{"__typename":"\#(type)","id":1,"name":"N"}}"#, for: query)
    #expect(try await store.record("\(type):1") == ["__typename": .string(type), "id": 1, "name": "N"])
    // No response has contained this field. It is needed only if the fragment applies.
    let other = DynamicOperation.query("{ a { name ... on \(condition) { size } } }")
    #expect(try await (store.data(other) == nil) == applies)
  }

  @Test("a type that is younger than the schema is judged by its fields", .rule("detail.1"))
  func unknownToTheSchema() async throws {
    let schema = try Schema(
      parsing: "interface Character { name: String } type Human implements Character { name: String }")
    let store = ApolloStore(policy: CacheKeyPolicy(schema: schema))
    let query = DynamicOperation.query("{ a { __typename id ... on Character { name } ... on Human { height } } }")
    let data = #"{"a":{"__typename":"Alien","id":1,"name":"N"}}"#
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
  }

  @Test("a fragment applies only if the fields of its objects are there too", .rule("detail.2"))
  func nested() async throws {
    let query = DynamicOperation.query("{ node { ... on Node { owner { id } } ... on Repository { owner { id login } } } }")
    for data in [#"{"node":{"owner":{"id":1}}}"#, #"{"node":{"owner":{"id":1,"login":"l"}}}"#, #"{"node":{"owner":null}}"#] {
      let store = ApolloStore()
      try await store.publish(data, for: query)
      #expect(try await store.data(query) == json(data))
    }
  }

  @Test(
    "lists, conditions and fragments below count as they do in the response", .rule("detail.2"),
    arguments: [
      (#"{"a":{"l":[{"x":1,"y":1},null,{"x":2,"y":2}]}}"#, true), (#"{"a":{"l":[{"x":1,"y":1},{"x":2}]}}"#, false),
      (#"{"a":{"l":[]}}"#, nil),
    ] as [(String, Bool?)])
  func nestedLists(_ data: String, _ applies: Bool?) async throws {
    let query = DynamicOperation.query(
      "query($no: Boolean = false) { a { ... on A { l { x ... @include(if: true) { y } z @include(if: $no) ... on Z { w } } } } }"
    )
    try await store.publish(data, for: query)
    let record = try #require(try await store.record("QUERY_ROOT.a"))
    #expect(record["... on A"] == (applies == false ? false : true))
    #expect((record["l"] != nil) == (applies != false))
  }
}
