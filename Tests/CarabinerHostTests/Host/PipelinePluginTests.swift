import Carabiner
import CarabinerHost
import CarabinerPipeline
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Plugins of a manifest in chains of older generations", .timeLimit(.minutes(5)))
struct PipelinePluginTests {
  private struct StampQuery: Carabiner.GraphQLQuery {
    struct Data: Decodable, Sendable {
      let stamp: String
    }

    var operationName: String? { "Stamp" }
    var document: String { "query Stamp { stamp }" }
  }

  /// Adds a header that no manifest names.
  private struct OwnHeader: ApolloInterceptor {
    func interceptAsync<Operation: Carabiner.GraphQLOperation>(
      chain: any CarabinerPipeline.RequestChain, request: CarabinerPipeline.HTTPRequest<Operation>,
      response: CarabinerPipeline.HTTPResponse<Operation>?,
      completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
    ) {
      request.addHeader(name: "x-own", value: "mine")
      chain.proceedAsync(request: request, response: response, completion: completion)
    }
  }

  private final class Provider: CarabinerPipeline.DefaultInterceptorProvider {
    override func interceptors<Operation: Carabiner.GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
      [OwnHeader()] + super.interceptors(for: operation)
    }
  }

  private func client(_ chain: StampedChain, _ host: PluginHost) throws -> CarabinerPipeline.ApolloClient {
    let store = CarabinerPipeline.ApolloStore()
    return CarabinerPipeline.ApolloClient(
      networkTransport: CarabinerPipeline.RequestChainNetworkTransport(
        interceptorProvider: Provider(store: store, stages: ManifestProvider(host)),
        endpointURL: try #require(URL(string: "\(chain.upstream.origin)/graphql"))),
      store: store)
  }

  @Test("a plugin in C and an interceptor with callbacks see one request, and a reload changes the plugin", .rule("pipeline.61"))
  func mixed() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let client = try client(chain, host)
    #expect(
      try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData).data?.stamp == "one mine")
    try await chain.build("two")
    try await host.reload()
    #expect(
      try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData).data?.stamp == "two mine")
    #expect(
      try await client.fetch(query: StampQuery(), cachePolicy: .returnCacheDataDontFetch).data?.stamp == "two mine")
  }

  @Test("the response of an HTTP plugin is parsed and stored as one of the server, and nothing is sent", .rule("pipeline.63"))
  func response() async throws {
    let chain = try await StampedChain("one")
    try await chain.build("one", defining: ["RESPONDS_WITH=200"])
    let client = try client(chain, try await PluginHost(manifest: chain.manifest))
    let result = try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData)
    #expect(result.data?.stamp == "the plugin" && result.source == .server)
    #expect(
      try await client.fetch(query: StampQuery(), cachePolicy: .returnCacheDataDontFetch).data?.stamp == "the plugin")
    #expect(chain.upstream.connections == 0)
  }

  @Test("the status of a plugin's response is checked by the list", .rule("pipeline.63"))
  func responseStatus() async throws {
    let chain = try await StampedChain("one")
    try await chain.build("one", defining: ["RESPONDS_WITH=503"])
    let client = try client(chain, try await PluginHost(manifest: chain.manifest))
    let error = await #expect(throws: CarabinerPipeline.ResponseCodeInterceptor.ResponseCodeError.self) {
      try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData)
    }
    #expect("\(try #require(error))".contains("503"))
    #expect(chain.upstream.connections == 0)
  }

  @Test("the error of a plugin that fails is the error of the call", .rule("pipeline.63"))
  func failure() async throws {
    let chain = try await StampedChain("one")
    try await chain.build("one", defining: ["REFUSES_WITH=418", "RETRY_AFTER=0"])
    let client = try client(chain, try await PluginHost(manifest: chain.manifest))
    let error = await #expect(throws: (any Error).self) {
      try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData)
    }
    #expect(error is CarabinerPipeline.URLSessionClient.URLSessionClientError == false)
    #expect("\(try #require(error))".contains("a secret of the plugin"))
    #expect(chain.upstream.connections == 0)
  }

  @Test("maximum-part of the manifest limits a response in parts, and a reload changes the limit", .rule("pipeline.61"))
  func partLimit() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        let part = #"{"data":{"stamp":"\#(String(repeating: "x", count: 3000))"},"hasNext":false}"#
        try peer.send(
          "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed;boundary=\"-\";deferSpec=20220824\r\nConnection: close\r\n\r\n"
            + "---\r\nContent-Type: application/json\r\n\r\n\(part)\r\n-----\r\n")
        peer.close()
      })
    let chain = try await StampedChain("one")
    func write(_ limit: String) throws {
      try chain.write(
        """
        carabiner: 1
        endpoint: \(server.origin)
        plugins: [{name: stamp, file: stamp.so}]
        chain: {http: [stamp]}
        settings: {maximum-part: \(limit)}
        """)
    }
    try write("2KiB")
    let host = try await PluginHost(manifest: chain.manifest)
    let store = CarabinerPipeline.ApolloStore()
    let client = CarabinerPipeline.ApolloClient(
      networkTransport: CarabinerPipeline.RequestChainNetworkTransport(
        interceptorProvider: Provider(store: store, stages: ManifestProvider(host)),
        endpointURL: try #require(URL(string: server.origin))),
      store: store)
    let error = await #expect(throws: (any Error).self) {
      try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData)
    }
    #expect("\(try #require(error))".contains("2048 bytes"))
    try write("8KiB")
    try await host.reload()
    #expect(try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData).data?.stamp.count == 3000)
  }

  // MARK: Lists that the generation has itself

  @Test(
    "a manifest with a cache or parsing list of its own is refused with pointer and line", .rule("pipeline.62"),
    arguments: [
      ("chain: {http: [stamp], cache: []}", "/chain/cache", 4),
      ("chain:\n  http: [stamp]\n  parsing: [stamp, json]", "/chain/parsing", 6),
      ("rules: [{when: {operation: A}, chain: {cache: [stamp, store]}}]\nchain: {http: [stamp]}", "/rules/0/chain/cache", 4),
    ])
  func refusedLists(_ lists: String, _ pointer: String, _ line: Int) async throws {
    let chain = try await StampedChain("one")
    let head = """
      carabiner: 1
      endpoint: \(chain.upstream.origin)/graphql
      plugins: [{name: stamp, file: stamp.so}]

      """
    try chain.write(head + lists + "\n")
    var configuration = PluginHost.Configuration()
    configuration.refusesCacheAndParsing = true
    let error = try await #require(throws: ServerError.self) {
      try await ManifestProvider(manifest: chain.manifest, configuration: configuration)
    }
    #expect(error.code == .refused)
    #expect(error.problems.map(\.pointer) == [pointer] && error.problems.map(\.line) == [line], "\(error)")

    // The default lists may be written, and a reload is checked too.
    try chain.write(head + "chain: {http: [stamp], cache: [store], parsing: [json]}\n")
    let host = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    try chain.write(head + lists + "\n")
    await #expect(throws: ServerError.self) { try await host.reload() }
    #expect(host.generation == 1)
  }

  // MARK: Delegates

  /// Notes the requests that it sees, and adds to the plugin's header.
  private final class Delegate: HTTPNetworkTransportPreflightDelegate, Sendable {
    let seen = Mutex<[String]>([])

    func networkTransport(_ networkTransport: HTTPNetworkTransport, shouldSend request: Carabiner.URLRequest) -> Bool {
      let stamp = request.value(forHTTPHeaderField: "X-Stamp-Down") ?? "none"
      seen.withLock { $0.append(stamp) }
      return true
    }

    func networkTransport(_ networkTransport: HTTPNetworkTransport, willSend request: inout Carabiner.URLRequest) {
      request.setValue("mine", forHTTPHeaderField: "X-Own")
    }
  }

  @Test(
    "a plugin in C is asked before the delegate, which has the last word in the manifest too", .rule("delegate.4", "delegate.27"),
    arguments: ["[stamp]", "[stamp, delegate]", "[stamp, response-code, delegate]"])
  func delegate(http: String) async throws {
    let chain = try await StampedChain("one")
    try chain.write(
      """
      carabiner: 1
      endpoint: \(chain.upstream.origin)/graphql
      plugins: [{name: stamp, file: stamp.so}]
      chain: {http: \(http)}
      """)
    let delegate = Delegate()
    let transport = HTTPNetworkTransport(
      url: try #require(URL(string: "\(chain.upstream.origin)/graphql")), delegate: delegate,
      stages: try await ManifestProvider(manifest: chain.manifest))
    let client = CarabinerPipeline.ApolloClient(networkTransport: transport)
    let result = try await client.fetch(query: StampQuery(), cachePolicy: .fetchIgnoringCacheData)
    #expect(result.data?.stamp == "one mine")
    #expect(delegate.seen.withLock { $0 } == ["one"])
  }
}
