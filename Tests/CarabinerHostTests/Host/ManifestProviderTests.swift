import Carabiner
import CarabinerCurl
import CarabinerHost
import Foundation
import ScriptedServer
import Synchronization
import Testing

@Suite("The interceptors of a manifest among one's own", .timeLimit(.minutes(5)))
struct ManifestProviderTests {
  /// Adds a header that no manifest names.
  private struct OwnHeader: HTTPInterceptor {
    func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
      var request = request
      request.setValue("mine", forHTTPHeaderField: "X-Own")
      return try await next(request)
    }
  }

  private struct MixedProvider: InterceptorProvider {
    let manifest: ManifestProvider

    func interceptors<Operation: GraphQLOperation>(
      for operation: Operation, context: RequestContext
    ) throws -> RequestInterceptors {
      var interceptors = try manifest.interceptors(for: operation, context: context)
      interceptors.http.append(OwnHeader())
      return interceptors
    }
  }

  /// Combines single lists.
  private struct ListProvider: InterceptorProvider {
    let manifest: ManifestProvider

    func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
      manifest.graphQLInterceptors(for: operation)
    }

    func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor {
      manifest.cacheInterceptor(for: operation)
    }

    func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
      manifest.httpInterceptors(for: operation) + [OwnHeader()]
    }

    func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
      manifest.responseParser(for: operation)
    }
  }

  @Test("a request passes both, and a reload changes those of the manifest", arguments: [false, true])
  func mixed(listByList: Bool) async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let url = try #require(URL(string: "\(chain.upstream.origin)/graphql"))
    let manifest = ManifestProvider(host)
    let provider: any InterceptorProvider = listByList ? ListProvider(manifest: manifest) : MixedProvider(manifest: manifest)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: url, httpTransport: try CurlTransport()))
    try await #expect(client.stamp() == stamped("one mine"))
    try await chain.build("two")
    try await host.reload()
    try await #expect(client.stamp() == stamped("two mine"))
  }

  @Test("each single list has the stages of the manifest, in place of the built-in ones")
  func singleLists() async throws {
    let chain = try await StampedChain("one")
    try chain.write(
      """
      carabiner: 1
      endpoint: \(chain.upstream.origin)/graphql
      plugins: [{name: stamp, file: stamp.so}]
      chain: {graphql: [], cache: [], http: [stamp], parsing: [json]}
      """)
    let manifest = try await ManifestProvider(manifest: chain.manifest)
    let operation = StampedChain.operation
    let all = try manifest.interceptors(for: operation, context: RequestContext())
    func names(_ stages: [any ChainStage]) -> [String] { stages.map(\.stageName).filter { !$0.contains("LeaseKeeper") } }
    #expect(names(manifest.graphQLInterceptors(for: operation)) == names(all.graphQL))
    #expect(names(manifest.httpInterceptors(for: operation)) == names(all.http))
    #expect(manifest.cacheInterceptor(for: operation).stageName == all.cache.stageName)
    #expect(manifest.responseParser(for: operation).stageName == all.parser.stageName)
  }

  // MARK: Calls that are not GraphQL

  private func call(_ name: String, _ type: GraphQLOperationType) -> DynamicOperation {
    DynamicOperation(document: "", operationName: name, operationType: type)
  }

  @Test(
    "a call that is not GraphQL is an operation without document, and rules match its name and type",
    arguments: [
      ("shop.v1.Carts/Get", .query, true), ("shop.v1.Carts/Get", .mutation, false), ("shop.v2.Carts/Get", .query, false),
      ("Carts", .subscription, false),
    ] as [(String, GraphQLOperationType, Bool)])
  func plainCall(_ name: String, _ type: GraphQLOperationType, _ isStamped: Bool) async throws {
    let chain = try await StampedChain("one")
    try chain.write(
      """
      carabiner: 1
      endpoint: \(chain.upstream.origin)/graphql
      plugins: [{name: stamp, file: stamp.so}]
      chain: {http: []}
      rules: [{when: {operation: "shop.v1.*", type: query}, chain: {http: [stamp]}}]
      """)
    let manifest = try await ManifestProvider(manifest: chain.manifest)
    let interceptors = try manifest.interceptors(for: call(name, type), context: RequestContext())
    let httpChain = HTTPChain(interceptors: interceptors.http, transport: try CurlTransport())
    let url = try #require(URL(string: "\(chain.upstream.origin)/\(name)"))
    let response = try await httpChain.send { Carabiner.URLRequest(url: url, httpBody: Data("not JSON".utf8)) }
    let body = try await response.chunks.collected()
    #expect(String(decoding: body, as: UTF8.self) == stamped(isStamped ? "one" : ""))
  }

  @Test("the generation of such a call ends after its response was read")
  func lease() async throws {
    let mayEnd = Mutex(false)
    let upstream = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n")
      while !mayEnd.withLock({ $0 }) { peer.pause(milliseconds: 5) }
      try peer.send("3\r\nend\r\n0\r\n\r\n")
    }
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let journal = Mutex<[String]>([])
    let events = host.events
    let watching = Task {
      for await event in events where event.kind == .ended {
        return journal.withLock { $0.append("ended \(event.generation)") }
      }
    }
    let url = try #require(URL(string: upstream.origin))
    let transport = try CurlTransport()
    do {
      let interceptors = try ManifestProvider(host).interceptors(for: call("Slow", .query), context: RequestContext()).http
      let response = try await HTTPChain(interceptors: interceptors, transport: transport).send {
        Carabiner.URLRequest(url: url, httpMethod: "GET")
      }
      try await chain.build("two")
      try await host.reload()
      // Requests of the new generation run meanwhile.
      for _ in 0..<3 { try await #expect(ApolloClient(networkTransport: host.transport).stamp() == stamped("two")) }
      mayEnd.withLock { $0 = true }
      #expect(try await response.chunks.collected() == Data("beginend".utf8))
      journal.withLock { $0.append("read") }
    }
    await watching.value
    #expect(journal.withLock { $0 } == ["read", "ended 1"])
  }
}
