import CarabinerHost
import CarabinerPipeline
import Foundation

/// Fetches a book twice, through interceptors with callbacks and the plugins of a manifest.
///
/// Usage: CallbackClient MANIFEST ENDPOINT
@main
struct CallbackClient {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let endpoint = URL(string: CommandLine.arguments[2]) else {
      FileHandle.standardError.write(Data("usage: CallbackClient MANIFEST ENDPOINT\n".utf8))
      exit(2)
    }
    var configuration = PluginHost.Configuration()
    configuration.endpoint = CommandLine.arguments[2]
    // The interceptors of this program read and write the cache, and parse.
    configuration.refusesCacheAndParsing = true
    let host = try await PluginHost(manifest: CommandLine.arguments[1], configuration: configuration)
    let store = ApolloStore()
    let transport = RequestChainNetworkTransport(
      interceptorProvider: TimedProvider(store: store, stages: ManifestProvider(host)), endpointURL: endpoint)
    let client = ApolloClient(networkTransport: transport, store: store)
    // The second fetch is answered by the store.
    for _ in 0..<2 {
      let result = try await client.fetch(query: BookQuery(id: "2"), cachePolicy: .returnCacheDataElseFetch)
      for error in result.errors ?? [] { print("GraphQL error: \(error)") }
      print("\(result.data?.book?.title ?? "no book"), from the \(result.source)")
    }
    await host.shutDown()
  }
}

/// Puts an interceptor of this program before the default ones, which run the plugins around the network.
final class TimedProvider: DefaultInterceptorProvider {
  override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    [TimingInterceptor()] + super.interceptors(for: operation)
  }
}
