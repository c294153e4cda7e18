import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Responses in the format of a decoder", .timeLimit(.minutes(2)))
struct CodableTests {
  private struct Body: Encodable {
    struct Fault: Encodable {
      let message: String
    }

    let data = ["hero": ["id": "1", "name": "R2"]]
    let errors = [Fault(message: "partly")]
    let extensions = ["cost": 3]
  }

  private func service(
    _ body: String, persists: Bool = false
  ) throws -> LegacyService {
    try LegacyService(CodableInterceptorProvider(decoder: JSONDecoder()), persists: persists) { _, peer in try peer.json(body) }
  }

  @Test(
    "typed results come from JSON and from a binary property list, with data, errors and extensions",
    .rule("legacy.1", "legacy.2"),
    arguments: [false, true])
  func formats(isPropertyList: Bool) async throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let bytes = isPropertyList ? try encoder.encode(Body()) : try JSONEncoder().encode(Body())
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.bytes(bytes, "application/octet-stream") })
    let url = try #require(URL(string: server.origin))
    let json = RequestChainNetworkTransport(
      interceptorProvider: CodableInterceptorProvider(decoder: JSONDecoder()), endpointURL: url)
    let client = isPropertyList ? propertyListClient(url: url) : ApolloClient(networkTransport: json)
    let result = try await client.fetch(query: HeroQuery())
    #expect(result.data?.hero.name == "R2" && result.source == .server)
    #expect(result.errors?.map(\.message) == ["partly"] && result.extensions?["cost"]?.int == 3)
    #expect(server.requests.first?.json?["query"]?.string == HeroQuery().document)
  }

  @Test("errors alone are a result without data, and neither is an error of the response", .rule("legacy.3"))
  func members() async throws {
    let failed = try await service(#"{"errors":[{"message":"no"}]}"#).result(of: HeroQuery())
    #expect(failed.data == nil && failed.errors?.first?.message == "no")
    let whole = try await service(String(heroJSON.dropLast()) + #","errors":null}"#).result(of: HeroQuery())
    #expect(whole.data?.hero.name == "R2" && whole.errors == nil)
    for body in ["{}", #"{"errors":null}"#] {
      let service = try service(body)
      let error = await #expect(throws: (any Error).self) { try await service.result(of: HeroQuery()) }
      #expect("\(error as Any)".contains("neither data nor errors"), "\(error as Any)")
    }
  }

  @Test(
    "a body that the decoder refuses fails with the decoder's own error", .rule("legacy.3"),
    arguments: [
      "", "<html>", #"{"data":{"hero":{"id":1}}}"#, #"{"data":1}"#,
      #"{"extensions":"# + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}",
    ])
  func refused(body: String) async throws {
    let service = try service(body)
    await #expect(throws: DecodingError.self) { try await service.result(of: HeroQuery()) }
  }

  @Test("a parser in front of the network is an error", .rule("legacy.3"))
  func noResponse() async {
    for (interceptor, name) in [
      (CodableParsingInterceptor(decoder: JSONDecoder()) as any ApolloInterceptor, "CodableParsingInterceptor"),
      (LegacyParsingInterceptor(), "LegacyParsingInterceptor"),
      (LegacyCacheWriteInterceptor(store: ApolloStore()), "LegacyCacheWriteInterceptor"),
    ] {
      let call = TestCall([interceptor]).start()
      #expect(await call.results.words(1).first?.contains("\(name)") == true)
    }
  }

  @Test("persisted queries are parsed before they are checked: hash, not found, document", .rule("legacy.4"))
  func persisted() async throws {
    let service = try LegacyService(CodableInterceptorProvider(decoder: JSONDecoder()), persists: true) { request, peer in
      let hasDocument = request.json?["query"]?.string != nil
      try peer.json(hasDocument ? heroJSON : #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)
    }
    #expect(try await service.result(of: HeroQuery()).data?.hero.name == "R2")
    #expect(service.server.requests.map { $0.json?["query"]?.string != nil } == [false, true])
    #expect(service.server.requests.allSatisfy { $0.json?["extensions"]?["persistedQuery"] != nil })
  }

  @Test("the provider leaves the store untouched, and a query for the store alone is a miss", .rule("legacy.4"))
  func store() async throws {
    let service = try service(heroJSON)
    _ = try await service.result(of: HeroQuery(), .returnCacheDataElseFetch)
    let keys = try await service.client.store.core.withinReadTransaction { try await $0.keys() }
    #expect(keys.isEmpty)
    let error = await #expect(throws: CacheMissError.self) {
      try await service.result(of: HeroQuery(), .returnCacheDataDontFetch)
    }
    #expect(error?.operationName == "Hero" && service.server.requests.count == 1)
  }

  @Test("Parseable reads Decodable types, and types with an initialiser of their own")
  func parseable() throws {
    struct Own: Parseable {
      init<T: FlexibleDecoder>(from data: Data, decoder: T) throws { throw ParseableError.notImplemented }
    }
    struct Point: Decodable, Parseable {
      let x: Int
    }
    #expect(try Point(from: Data(#"{"x":2}"#.utf8), decoder: JSONDecoder()).x == 2)
    #expect(throws: ParseableError.notImplemented) { try Own(from: Data(), decoder: JSONDecoder()) }
  }
}
