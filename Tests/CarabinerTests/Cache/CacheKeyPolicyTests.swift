import Carabiner
import CarabinerSchema
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Normalised store: policies")
struct CacheKeyPolicyTests {
  private static let data = #"{"hero":{"__typename":"Human","id":"1","name":"Luke"}}"#
  private let hero = DynamicOperation.query("{ hero { __typename id name } }")

  /// A store whose records were received `age` seconds ago.
  private func store(_ policy: CacheKeyPolicy, age: Double) async throws -> ApolloStore {
    let store = ApolloStore(policy: policy)
    try await store.publish(Self.data, for: hero)
    let received = StoreClock.now - Int64(age * 1000)
    for record in try await store.cache.records(forKeys: store.keys()) {
      guard var record else { continue }
      for (name, value) in record.fields { record.set(name, to: [UInt8](value), received: received) }
      _ = try await store.cache.merge(records: RecordSet([record]))
    }
    return store
  }

  struct Case: Sendable {
    let ages: [String: Double]
    var fallback: Double?
    let age: Double
    let isHit: Bool
  }

  private static let cases: [Case] = [
    Case(ages: ["Human": 10], age: 5, isHit: true), Case(ages: ["Human": 10], age: 11, isHit: false),
    Case(ages: ["Human.name": 10], age: 11, isHit: false), Case(ages: ["Human.mass": 10], age: 11, isHit: true),
    Case(ages: ["Human": 10, "Human.id": 60, "Human.name": 60, "Human.__typename": 60], age: 11, isHit: true),
    Case(ages: ["Query": 10], age: 11, isHit: false), Case(ages: ["Query.hero": 10], age: 11, isHit: false),
    Case(ages: [:], fallback: 10, age: 11, isHit: false), Case(ages: [:], fallback: 10, age: 5, isHit: true),
    Case(ages: ["Human": 0], age: 0, isHit: false),
  ]

  @Test("data older than the limit of its type or field is a miss", .rule("store.7"), arguments: cases)
  func maximumAges(_ example: Case) async throws {
    let store = try await store(
      CacheKeyPolicy(maximumAges: example.ages, defaultMaximumAge: example.fallback), age: example.age)
    let isHit = try await store.load(hero) != nil
    #expect(isHit == example.isHit)
  }

  private static let animals = """
    type Query { pet: Node, owner: Owner } interface Node { uid: ID! } interface Animal { tag: ID! name: String }
    type Dog implements Node & Animal { uid: ID! tag: ID! name: String } type Cat implements Node { uid: ID! id: ID }
    type Owner { id: ID! uid: ID! }
    """

  @Test(
    "key fields of an interface are those of the types that implement it and have none of their own", .rule("store.1"),
    arguments: [
      (["Node": ["uid"]], "Dog", "Dog:u"), (["Node": ["uid"]], "Cat", "Cat:u"), (["Node": ["uid"]], "Owner", "Owner:1"),
      (["Node": ["uid"], "Cat": ["id"]], "Cat", "Cat:1"), (["Node": ["uid"], "Cat": []], "Cat", "QUERY_ROOT.pet"),
      (["Node": ["uid"], "Animal": ["tag"]], "Dog", "Dog:t"), (["Node": ["uid"]], "Fox", "Fox:1"),
    ] as [([String: [String]], String, String)])
  func interfaces(_ keyFields: [String: [String]], _ type: String, _ key: String) async throws {
    let policy = CacheKeyPolicy(keyFields: keyFields, schema: try Schema(parsing: Self.animals))
    let store = ApolloStore(policy: policy)
    let pet = DynamicOperation.query("{ pet { __typename id uid tag } }")
    try await store.publish(#"{"pet":{"__typename":"\#(type)","id":"1","uid":"u","tag":"t"}}"#, for: pet)
    #expect(try await store.keys().sorted() == [key, "QUERY_ROOT"].sorted())
  }

  @Test("key fields of an interface are added where its objects are selected", .rule("detail.14"))
  func completedInterface() throws {
    let policy = CacheKeyPolicy(keyFields: ["Node": ["uid"]], schema: try Schema(parsing: Self.animals))
    for (type, fields) in [("Dog", ["uid"]), ("Node", ["uid"]), ("Owner", ["id"])] {
      #expect(policy.keyFields(of: type) == fields)
    }
  }

  @Test("a value that comes again is young again, although it did not change", .rule("store.7"))
  func refreshed() async throws {
    let store = try await store(CacheKeyPolicy(defaultMaximumAge: 10), age: 11)
    #expect(try await store.load(hero) == nil)
    try await store.publish(Self.data, for: hero)
    #expect(try await store.load(hero) != nil)
  }

  @Test("a response that is kept whole ages too", .rule("store.7"))
  func wholeResponse() async throws {
    let store = ApolloStore(policy: CacheKeyPolicy(defaultMaximumAge: 0))
    try await store.publish(#"{"a":1}"#, for: .query("{ broken"))
    #expect(try await store.load(DynamicOperation.query("{ broken")) == nil)
  }

  @Test("a field policy finds an object from the result of another query")
  func fieldPolicies() async throws {
    let store = ApolloStore(
      policy: CacheKeyPolicy(
        keyFields: ["Book": ["shelf", "isbn"]],
        fieldPolicies: [
          "Query.human": .init(type: "Human", keyArguments: ["id"]), "Query.humans": .init(type: "Human", keyArguments: ["ids"]),
          "Query.book": .init(type: "Book", keyArguments: ["shelf", "isbn"]),
        ]))
    try await store.publish(Self.data, for: hero)
    try await store.publish(
      #"{"b":{"__typename":"Book","shelf":"a+","isbn":7}}"#, for: .query("{ b { __typename shelf isbn } }"))
    #expect(try await store.data(.query("query($i: ID!) { human(id: $i) { name } }", ["i": "1"])) == ["human": ["name": "Luke"]])
    #expect(try await store.data(.query("{ human(id: 1) { name } }")) == ["human": ["name": "Luke"]])
    #expect(try await store.data(.query("{ human(id: 2) { name } }")) == nil)
    #expect(try await store.data(.query("{ human { name } }")) == nil)
    #expect(try await store.data(.query("{ humans(ids: [1, 1]) { id } }")) == json(#"{"humans":[{"id":"1"},{"id":"1"}]}"#))
    #expect(try await store.data(.query("{ humans(ids: []) { id } }")) == ["humans": []])
    #expect(try await store.data(.query(#"{ book(isbn: 7, shelf: "a+") { isbn } }"#)) == ["book": ["isbn": 7]])
  }

  @Test("a cache with a limit of bytes keeps the records used last", .rule("store.6"))
  func byteLimit() async throws {
    let cache = InMemoryNormalizedCache(maximumBytes: 20_000)
    let value = Data(repeating: UInt8(ascii: "1"), count: 1000)
    for number in 0..<100 {
      _ = try await cache.records(forKeys: ["0"])
      _ = try await cache.merge(records: RecordSet([Record(key: "\(number)", fields: ["f": value])]))
      #expect(cache.byteCount <= 20_000)
    }
    #expect((10...19).contains(cache.recordCount))
    #expect(try await cache.records(forKeys: ["0", "1", "99"]).map { $0 != nil } == [true, false, true])
  }

  @Test(
    "a root with 20,000 fields is written and read in little time, and its replaced values leave no garbage", .rule("store.6"))
  func wideRoot() async throws {
    let store = ApolloStore(cache: InMemoryNormalizedCache(maximumFields: 50_000))
    let document = "query($n: Int) { f(n: $n) }"
    for number in 0..<20_000 {
      try await store.publish(#"{"f":"\#(number)"}"#, for: .query(document, ["n": .number(JSONNumber(number % 5_000))]))
    }
    #expect(try await store.data(.query(document, ["n": 4_999])) == ["f": "19999"])
    #expect(try await store.cache.records(forKeys: ["QUERY_ROOT"])[0]?.names.count == 5_000)
  }

  @Test(
    "the key of an object is its type and its id as text",
    arguments: [
      (#""1""#, "Human:1"), (#""""#, "Human:"), ("7", "Human:7"), ("-1.5e3", "Human:-1.5e3"), ("true", "Human:true"),
      (#""a+b""#, "Human:a+b"), (#""é\n\u0041""#, "Human:é\nA"), (#""日本語""#, "Human:日本語"),
      (#""a value that is longer than fifteen bytes""#, "Human:a value that is longer than fifteen bytes"),
      ("null", "QUERY_ROOT.hero"), ("[1]", "QUERY_ROOT.hero"),
    ])
  func keyOfID(id: String, key: String) async throws {
    let store = ApolloStore()
    try await store.publish(#"{"hero":{"__typename":"Human","id":\#(id),"name":"Luke"}}"#, for: hero)
    #expect(try await store.keys() == [key, "QUERY_ROOT"].sorted())
    #expect(try await store.data(hero)?.object?["hero"]?.object?["name"] == "Luke")
  }
}
