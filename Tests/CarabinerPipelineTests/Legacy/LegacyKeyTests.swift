import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Keys of stored objects in the 0.3x generation", .timeLimit(.minutes(2)))
struct LegacyKeyTests {
  /// A list whose parser has a key function, and optionally an interceptor behind it.
  private struct Provider: InterceptorProvider {
    let store: CarabinerPipeline.ApolloStore
    var key: CacheKeyForObject?
    var last: [any ApolloInterceptor] = []
    var isLegacy = true

    func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
      [
        NetworkFetchInterceptor(client: URLSessionClient()),
        isLegacy ? LegacyParsingInterceptor(cacheKeyForObject: key) : JSONResponseParsingInterceptor(cacheKeyForObject: key),
      ] + last + [LegacyCacheWriteInterceptor(store: store)]
    }
  }

  private static let aliased = Anything(document: "query Test { droid: hero { __typename number: id name } }")
  private static func body(_ key: String) -> String {
    #"{"data":{"droid":{"__typename":"Droid","number":\#(key),"name":"R2"}}}"#
  }

  /// A function that gives each object this key.
  private static func naming(_ text: String?) -> CacheKeyForObject? {
    guard let text else { return nil }
    return { _ in .string(text) }
  }

  private func keys(_ store: CarabinerPipeline.ApolloStore) async throws -> Set<String> {
    Set(try await store.core.withinReadTransaction { try await $0.keys() })
  }

  @Test(
    "text or a number under its response name is the whole key, and any other value is not a key", .rule("legacy.6"),
    arguments: [
      (#""r2""#, "r2"), ("7", "7"), ("1.50", "1.50"), ("null", nil), ("true", nil), ("[1]", nil), (#"{"a":1}"#, nil),
    ] as [(String, String?)])
  func values(value: String, key: String?) async throws {
    let store = CarabinerPipeline.ApolloStore()
    let service = try LegacyService(Provider(store: store, key: { $0["number"] }), store: store) { _, peer in
      try peer.json(Self.body(value))
    }
    _ = try await service.result(of: Self.aliased)
    #expect(try await keys(store) == ["QUERY_ROOT", key ?? "QUERY_ROOT.hero"])
  }

  @Test(
    "the function of the parser wins over that of the store, and without either the key fields count", .rule("legacy.6"),
    arguments: [true, false])
  func precedence(isLegacy: Bool) async throws {
    for (parser, store, key) in [("a", "b", "a"), (nil, "b", "b"), (nil, nil, "Droid:1")] as [(String?, String?, String)] {
      let own = CarabinerPipeline.ApolloStore()
      own.cacheKeyForObject = Self.naming(store)
      let service = try LegacyService(Provider(store: own, key: Self.naming(parser), isLegacy: isLegacy), store: own)
      _ = try await service.result(of: HeroQuery())
      #expect(try await keys(own) == ["QUERY_ROOT", key])
      #expect(try await own.result(of: HeroQuery()) == "R2")
    }
  }

  @Test("a change of cacheKeyForObject applies to what is written from then on")
  func change() async throws {
    let store = CarabinerPipeline.ApolloStore()
    let service = try LegacyService(LegacyInterceptorProvider(store: store), store: store)
    _ = try await service.result(of: HeroQuery())
    nameObjects(of: service.client)
    #expect(service.client.cacheKeyForObject != nil)
    _ = try await service.result(of: HeroQuery())
    #expect(try await keys(store) == ["QUERY_ROOT", "Droid:1", "1"])
    service.client.cacheKeyForObject = nil
    #expect(store.cacheKeyForObject == nil)
  }

  /// Replaces the parsed response.
  private struct Replacing: ApolloInterceptor {
    let log: Log

    func interceptAsync<Operation: GraphQLOperation>(
      chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
      completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
    ) {
      log.note(response?.legacyResponse.map { String(decoding: $0.body.bytes, as: UTF8.self) } ?? "none")
      response?.parsedResponse = GraphQLResult(data: nil, extensions: nil, errors: [], source: .server, dependentKeys: nil)
      chain.proceedAsync(request: request, response: response, completion: completion)
    }
  }

  @Test("a replaced result is delivered, and the response of the server is written", .rule("legacy.5"))
  func replaced() async throws {
    let (store, log) = (CarabinerPipeline.ApolloStore(), Log())
    let service = try LegacyService(Provider(store: store, last: [Replacing(log: log)]), store: store)
    let result = try await service.result(of: HeroQuery())
    #expect(result.data == nil && result.errors?.isEmpty == true && log.entries == [heroJSON])
    #expect(try await store.result(of: HeroQuery()) == "R2")
  }
}

extension CarabinerPipeline.ApolloStore {
  /// The stored name of the hero.
  fileprivate func result(of query: HeroQuery) async throws -> String? {
    let results = Results<HeroQuery.Data>()
    load(query, callbackQueue: .global()) { results.add($0) }
    _ = await eventually { !results.all.isEmpty }
    return try results.all.first?.get().data?.hero.name
  }
}
