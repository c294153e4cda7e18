import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Deferred fragments and the cache", .timeLimit(.minutes(1)))
struct DeferredCacheTests {
  private let store = ApolloStore()
  private let query = DynamicOperation.query(
    """
    { heroes { __typename id name ... @defer(label: "friends") { friends { __typename id name } } ...Home @defer } version }
    fragment Home on Hero { home { planet } }
    """)
  private let plain = DynamicOperation.query(
    "{ heroes { __typename id name friends { __typename id name } home { planet } } version }")

  private func hero(_ id: Int, _ rest: String = "") -> String { #"{"__typename":"Hero","id":\#(id),"name":"H\#(id)"\#(rest)}"# }

  private func heroes(_ heroes: String...) -> String { #"{"heroes":[\#(heroes.joined(separator: ","))],"version":1}"# }

  private func pending(_ label: String?, _ index: Int = 0) -> PendingFragment {
    PendingFragment(label: label, path: ["heroes", .number(JSONNumber(index))])
  }

  @Test("the rest is a hit, and each deferred fragment that is missing is pending, with its label and path", .rule("detail.10"))
  func pendingFragments() async throws {
    try await store.publish(heroes(hero(1), hero(2)), for: .query("{ heroes { __typename id name } version }"))
    let bare = try #require(try await store.load(query))
    #expect(Set(bare.pendingFragments) == [pending("friends"), pending(nil), pending("friends", 1), pending(nil, 1)])
    #expect(try bare.data == json(heroes(hero(1), hero(2))))
    #expect(!bare.hasNext)
  }

  @Test("only the fragments that lack something are pending, wherever below them it is", .rule("detail.10"))
  func onlyWhatLacks() async throws {
    let home = #","home":{"planet":"P"}"#
    let whole = #","friends":[{"__typename":"Hero","id":3,"name":"C"}]"#
    try await store.publish(
      heroes(hero(1, home + whole), hero(2, home + #","friends":[{"__typename":"Hero","id":4}]"#)),
      for: .query("{ heroes { __typename id name home { planet } friends { __typename id name } } version }"))
    let response = try #require(try await store.load(query))
    #expect(response.pendingFragments == [pending("friends", 1)])
    #expect(try response.data == json(heroes(hero(1, whole + home), hero(2, home))))
    try await store.publish(#"{"x":{"__typename":"Hero","id":4,"name":"D"}}"#, for: .query("{ x { __typename id name } }"))
    let complete = try #require(try await store.load(query))
    #expect(complete.pendingFragments.isEmpty)
    #expect(try complete.data?["heroes"]?[1]?["friends"]?[0]?["name"] == "D")
  }

  @Test("a removed object of a deferred fragment makes that fragment pending, and one of the rest is a miss", .rule("detail.10"))
  func removedObject() async throws {
    try await store.publish(
      heroes(hero(1, #","friends":[\#(hero(3))],"home":null"#)), for: plain)
    #expect(try await store.load(query)?.pendingFragments.isEmpty == true)
    try await store.removeObject(for: "Hero:3")
    #expect(try await store.load(query)?.pendingFragments == [pending("friends")])
    try await store.removeObject(for: "Hero:1")
    #expect(try await store.load(query) == nil)
  }

  @Test("a missing field that is not deferred is a miss", .rule("detail.10"))
  func missingElsewhere() async throws {
    try await store.publish(
      #"{"heroes":[\#(hero(1))]}"#, for: .query("{ heroes { __typename id name } }"))
    #expect(try await store.load(query) == nil)
  }

  @Test(
    "only the fields that a deferred fragment adds to a field are pending", .rule("detail.10"),
    arguments: [
      "{ hero { id friends { id } ... @defer(label: \"more\") { friends { name } } } }",
      "{ hero { id ... @defer(label: \"more\") { friends { name } } friends { id } } }",
      "{ hero { id friends { id } ... @defer(label: \"more\") { ... @include(if: $yes) { friends { ... { name } } } } } }",
    ])
  func overlapping(_ document: String) async throws {
    let data = #"{"hero":{"id":1,"friends":[{"id":2},{"id":3}]}}"#
    try await store.publish(data, for: .query("{ hero { id friends { id } } }"))
    let response = try #require(try await store.load(DynamicOperation.query(document, ["yes": true])))
    #expect(response.pendingFragments == [PendingFragment(label: "more", path: ["hero"])])
    #expect(try response.data == json(data))
  }

  @Test(
    "a fragment that belongs to two places is pending where it lacks something, nested ones with the outer one",
    .rule("detail.10"))
  func nested() async throws {
    let document = DynamicOperation.query(
      """
      { a { ...F } b { ...F } }
      fragment F on X { id ... @defer(label: "outer") { one ... @defer(label: "inner") { two } } }
      """)
    try await store.publish(#"{"a":{"id":1},"b":{"id":2,"one":1}}"#, for: .query("{ a { id one } b { id one } }"))
    let response = try #require(try await store.load(document))
    #expect(
      response.pendingFragments == [
        PendingFragment(label: "outer", path: ["a"]), PendingFragment(label: "inner", path: ["b"]),
      ])
    #expect(try response.data == json(#"{"a":{"id":1},"b":{"id":2,"one":1}}"#))
  }

  @Test(
    "the condition of a defer decides whether its fragment may be missing", .rule("detail.10"),
    arguments: [
      ("true", [:], true), ("false", [:], false), ("$late", ["late": true], true), ("$late", ["late": false], false),
      ("$late", [:], true),
    ] as [(String, JSONObject, Bool)])
  func conditions(_ condition: String, _ variables: JSONObject, isHit: Bool) async throws {
    try await store.publish(#"{"hero":{"id":1}}"#, for: .query("{ hero { id } }"))
    let document = "query($late: Boolean) { hero { id ... @defer(if: \(condition)) { home } } }"
    #expect((try await store.load(DynamicOperation.query(document, variables)) != nil) == isHit)
  }

  @Test(
    "a type condition inside a deferred fragment that has not arrived yet is not taken for one that does not apply",
    .rule("detail.10"))
  func typeConditionInside() async throws {
    let query = DynamicOperation.query("{ hero { id ... @defer { ... on Human { height } } } }")
    try await store.publish(#"{"hero":{"id":1}}"#, for: query)
    #expect(try await store.load(query)?.pendingFragments == [PendingFragment(label: nil, path: ["hero"])])
    try await store.publish(#"{"hero":{"id":1,"height":2}}"#, for: query)
    #expect(try await store.load(query)?.pendingFragments.isEmpty == true)
  }

  private static let deferredResponse = [
    #"{"data":{"heroes":[{"__typename":"Hero","id":1,"name":"H1"}],"version":2},"hasNext":true}"#,
    #"{"incremental":[{"path":["heroes",0],"label":"friends","data":{"friends":[]}},{"path":["heroes",0],"data":{"home":null}}],"hasNext":false}"#,
  ]

  @Test(
    "a policy that may ask the network returns the cached data and then the server's results; cacheOnly returns the cached data",
    .rule("detail.10"),
    arguments: [
      (CachePolicy.cacheFirst, [true, true, false]), (.cacheAndNetwork, [true, true, false]), (.cacheOnly, [false]),
    ])
  func policies(_ policy: CachePolicy, _ expected: [Bool]) async throws {
    try await store.publish(heroes(hero(1)), for: .query("{ heroes { __typename id name } version }"))
    let transport = ChunkTransport([parts(Self.deferredResponse[0], Self.deferredResponse[1])])
    var responses: [GraphQLResponse<DynamicOperation>] = []
    for try await response in try ApolloClient.testing(transport, store: store).results(of: query, cachePolicy: policy) {
      responses.append(response)
    }
    #expect(responses.map(\.hasNext) == expected)
    #expect(responses.first?.source == .cache)
    #expect(responses.first?.pendingFragments == [pending("friends"), pending(nil)])
    if policy == .cacheOnly {
      #expect(transport.asks == 0)
    } else {
      #expect(try responses.last?.data?["heroes"]?[0]?["friends"] == [])
      #expect(responses.last?.pendingFragments == [])
      #expect(try await store.load(query)?.pendingFragments.isEmpty == true)
    }
  }

  @Test("when the network fails, networkFirst returns the cached data", .rule("detail.10"))
  func networkFailure() async throws {
    try await store.publish(heroes(hero(1)), for: .query("{ heroes { __typename id name } version }"))
    let transport = RecordingTransport { _, _ in throw TransportError(.cannotConnect, "nothing listens there", url: "") }
    let response = try await ApolloClient.testing(transport, store: store).fetch(
      query: HeroesQuery(query), cachePolicy: .networkFirst)
    #expect(response.source == .cache)
    #expect(response.pendingFragments == [pending("friends"), pending(nil)])
    #expect(!response.hasNext)
  }

  @Test("a retry after the cached result does not return it again", .rule("detail.10"))
  func retry() async throws {
    try await store.publish(heroes(hero(1)), for: .query("{ heroes { __typename id name } version }"))
    let transport = RecordingTransport { request, number in
      guard number > 1 else { throw TransportError(.cannotConnect, "nothing listens there", url: "") }
      return .json(#"{"data":\#(heroes(hero(1, #","friends":[],"home":null"#)))}"#, to: request)
    }
    var sources: [String] = []
    for try await response in try ApolloClient.testing(transport, provider: RetryingProvider(), store: store).results(of: query) {
      sources.append("\(response.source)")
    }
    #expect(sources == ["cache", "server"])
  }

  @Test("a watcher that only reads the store returns the cached data, and the fragment once it is written", .rule("detail.10"))
  func watcher() async throws {
    try await store.publish(heroes(hero(1)), for: .query("{ heroes { __typename id name } version }"))
    var results = store.watch(query).makeAsyncIterator()
    #expect(try await results.next()?.pendingFragments == [pending("friends"), pending(nil)])
    try await store.publish(
      heroes(hero(1, #","friends":[],"home":null"#)), for: plain)
    #expect(try await results.next()?.pendingFragments == [])
  }
}

/// Retries a failed request.
private struct FailureRetry: GraphQLInterceptor {
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    await next(request).mapErrors { _ in throw RequestChain<Request>.Retry(request: request) }
  }
}

private struct RetryingProvider: InterceptorProvider {
  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { [FailureRetry()] }
}

/// The same query as a generated type.
private struct HeroesQuery: GraphQLQuery {
  typealias Data = JSONValue
  let query: DynamicOperation

  init(_ query: DynamicOperation) { self.query = query }

  var operationName: String? { nil }
  var document: String { query.document }
}
