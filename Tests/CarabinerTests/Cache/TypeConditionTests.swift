import Carabiner
import CarabinerWire
import TestTools
import Testing

@Suite("Normalised store: interfaces and unions")
struct TypeConditionTests {
  private let store = ApolloStore()
  private let search = DynamicOperation.query(
    """
    { search { __typename ... on Human { id height } ... on Droid { id function } ...C } }
    fragment C on Character { name }
    """)

  @Test("each object of a union has the fields of its type, and comes back with them", .rule("store.2"))
  func union() async throws {
    let data =
      #"{"search":[{"__typename":"Human","id":1,"height":2,"name":"L"},{"__typename":"Droid","id":2,"function":"x","name":"R"},{"__typename":"Ship"}]}"#
    try await store.publish(data, for: search)
    #expect(try await store.data(search) == json(data))
    #expect(try await store.keys() == ["Droid:2", "Human:1", "QUERY_ROOT", "QUERY_ROOT.search.2"])
  }

  @Test("a field of a type condition that the object needs and lacks is a miss, one of another type is not", .rule("store.2"))
  func missingFieldsOfTypes() async throws {
    try await store.publish(
      #"{"search":[{"__typename":"Human","id":1,"height":2,"name":"L"}]}"#, for: search)
    #expect(try await store.data(.query("{ search { ... on Human { height } } }")) != nil)
    #expect(try await store.data(.query("{ search { ... on Human { mass } } }")) == nil)
    let droids = DynamicOperation.query("{ search { __typename ... on Droid { function } } }")
    #expect(try await store.data(droids) == json(#"{"search":[{"__typename":"Human"}]}"#))
    let ships = DynamicOperation.query("{ search { __typename ... on Ship { length } } }")
    #expect(try await store.data(ships) == nil)
    try await store.publish(#"{"search":[{"__typename":"Human"}]}"#, for: .query("{ search { __typename } }"))
  }

  @Test("without __typename a fragment applies if the response has its fields, and the record remembers it", .rule("store.2"))
  func withoutTypename() async throws {
    let query = DynamicOperation.query("{ hero { name ... on Human { height } ... on Droid { function } } }")
    let data = #"{"hero":{"name":"R2","function":"x"}}"#
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
    #expect(
      try await store.record("QUERY_ROOT.hero")
        == ["name": "R2", "function": "x", "... on Human": false, "... on Droid": true])
  }

  @Test("a fragment without fields of its own is assumed to apply, and proves no type", .rule("store.2"))
  func undecided() async throws {
    let query = DynamicOperation.query("{ hero { __typename id name ... on Droid { name } } }")
    let data = #"{"hero":{"__typename":"Human","id":1,"name":"L"}}"#
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
    #expect(try await store.record("Human:1")?["... on Droid"] == nil)
  }

  @Test("nested type conditions hold only where the outer one does", .rule("store.2"))
  func nested() async throws {
    let query = DynamicOperation.query(
      "{ a { __typename ... on Node { key ... on Human { height ... on Human { mass } } } } }")
    for data in [
      #"{"a":{"__typename":"Human","key":1,"height":2,"mass":3}}"#, #"{"a":{"__typename":"Droid","key":1}}"#,
      #"{"a":{"__typename":"Other"}}"#,
    ] {
      let store = ApolloStore()
      try await store.publish(data, for: query)
      #expect(try await store.data(query) == json(data))
    }
  }

  @Test("more parts than a plan takes keep the response whole", .rule("store.2"))
  func tooManyParts() async throws {
    let query = DynamicOperation.query(
      "{ a { __typename \((0..<70).map { "... on T\($0) { f\($0) }" }.joined(separator: " ")) } }")
    let data = #"{"a":{"__typename":"T3","f3":1}}"#
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
  }

  @Test("a deferred fragment that has not arrived yet is pending, and its record says nothing about its type", .rule("detail.10"))
  func deferred() async throws {
    let query = DynamicOperation.query("{ hero { __typename id ... on Human @defer { height } } }")
    try await store.publish(#"{"hero":{"__typename":"Human","id":1}}"#, for: query)
    #expect(try await store.load(query)?.pendingFragments == [PendingFragment(label: nil, path: ["hero"])])
    #expect(try await store.record("Human:1")?["... on Human"] == nil)
    try await store.publish(#"{"hero":{"__typename":"Human","id":1,"height":2}}"#, for: query)
    #expect(try await store.data(query)?["hero"]?["height"] == 2)
  }
}
