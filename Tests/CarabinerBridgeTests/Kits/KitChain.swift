import Carabiner
import CarabinerBridge
import CarabinerCurl
import CarabinerManifest
import CarabinerProvider
import Foundation

/// A chain with a kit's fixture in its lists, over a real network.
struct KitChain {
  let client: ApolloClient
  let server: ToyServer
  private let chain: HostedChain

  private static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)
  private static let allLists = "graphql: [kit], cache: [kit], http: [kit, response-code], parsing: [kit, json]"

  /// The event loop and the transport for plugins that wait and fetch.
  private static let network = Result {
    let transport = try CurlTransport(configuration: CurlTransport.Configuration())
    let environment = HostEnvironment(transport: transport) { [loop = transport.loop] delay, body in
      let timer = loop.schedule(after: delay, body)
      return { loop.cancel(timer) }
    }
    return (transport: transport, environment: environment)
  }

  /// - Parameters:
  ///   - extra: Additional lines of the manifest entry.
  ///   - url: The URL that the fixture fetches; nil for a page of the server.
  ///   - members: Additional members of the fixture's configuration, each after a comma.
  init(
    _ kit: KitPlugin, _ mode: String = "", status: Int = 200, interceptor: String = "org.carabiner.test.kit", extra: String = "",
    url: String? = nil, journal: String? = nil, members: String = "", lists: String = allLists
  ) async throws {
    let path = try await kit.path
    let (transport, environment) = try Self.network.get()
    server = try ToyServer(status: status)
    let page = url ?? "http://127.0.0.1:\(server.port)/other"
    let note = journal.map { ", journal: \"\($0)\"" } ?? ""
    let config = interceptor.hasSuffix(".second") ? "{}" : "{mode: \"\(mode)\", url: \"\(page)\"\(note)\(members)}"
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {cancel-grace: 20s}
        plugins:
          - name: kit
            file: \(path)
            interceptor: \(interceptor)
            config: \(config)
            \(extra)
        chain: {\(lists)}
        """)
    guard let endpoint = URL(string: server.endpoint) else { throw CancellationError() }
    chain = try HostedChain(manifest, environment: environment)
    client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: endpoint, httpTransport: transport))
  }

  /// Runs one request and stops the server. Returns the name in the last result, and the source of the result.
  func run(
    _ policy: CachePolicy = .networkOnly
  ) async throws -> (name: String?, source: GraphQLResponse<DynamicOperation>.Source?) {
    defer { server.stop() }
    return try await pass(policy)
  }

  func pass(
    _ policy: CachePolicy, headers: HTTPHeaders = [:]
  ) async throws -> (name: String?, source: GraphQLResponse<DynamicOperation>.Source?) {
    var name: String?
    var source: GraphQLResponse<DynamicOperation>.Source?
    let results = try client.results(
      of: Self.operation, cachePolicy: policy, configuration: RequestConfiguration(additionalHeaders: headers))
    for try await response in results {
      name = try response.data?["hero"]?["name"]?.string
      source = response.source
    }
    return (name, source)
  }
}
