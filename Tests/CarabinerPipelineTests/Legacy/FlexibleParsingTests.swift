import Carabiner
import Foundation
import PipelineSamples
import ScriptedServer
import Testing

/// A provider of the core with a parser for property lists.
private struct PropertyLists: InterceptorProvider {
  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
    FlexibleParsingInterceptor(decoder: PropertyListDecoder())
  }
}

@Suite("Responses of the core in the format of a decoder", .timeLimit(.minutes(2)))
struct FlexibleParsingTests {
  @Test("a chain of the core reads a binary property list and writes its records")
  func propertyList() async throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let bytes = try encoder.encode(["data": ["hero": ["__typename": "Droid", "id": "1", "name": "R2"]]])
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.bytes(bytes, "application/x-plist") })
    let store = ApolloStore()
    let transport = RequestChainNetworkTransport(
      interceptorProvider: PropertyLists(), endpointURL: try #require(URL(string: server.origin)), httpTransport: try Curl(),
      store: store)
    let client = ApolloClient(networkTransport: transport, store: store)
    var names: [String?] = []
    for try await response in try client.results(of: HeroQuery(), cachePolicy: .networkOnly) {
      names.append(try response.data?.hero.name)
    }
    #expect(names == ["R2"])
    #expect(try await store.load(HeroQuery())?.data?.hero.name == "R2")
  }

  @Test("a body that the decoder refuses, and one that is not a response, are errors")
  func refused() async throws {
    for (bytes, text) in [
      (Data("<plist><dict>".utf8), "DecodingError"), (try PropertyListEncoder().encode(["a": "b"]), "neither data"),
    ] {
      let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.bytes(bytes, "application/x-plist") })
      let transport = RequestChainNetworkTransport(
        interceptorProvider: PropertyLists(), endpointURL: try #require(URL(string: server.origin)), httpTransport: try Curl())
      let results = try ApolloClient(networkTransport: transport, store: ApolloStore()).results(of: HeroQuery())
      let error = await #expect(throws: (any Error).self) { for try await _ in results {} }
      #expect(text == "DecodingError" ? error is DecodingError : "\(error as Any)".contains(text), "\(error as Any)")
    }
  }
}
