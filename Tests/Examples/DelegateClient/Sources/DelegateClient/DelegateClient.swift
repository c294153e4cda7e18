import CarabinerHost
import CarabinerPipeline
import Foundation

/// Fetches a book with a delegate that sees each request, behind the plugins of a manifest.
///
/// Usage: DelegateClient MANIFEST ENDPOINT
@main
struct DelegateClient {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let endpoint = URL(string: CommandLine.arguments[2]) else {
      FileHandle.standardError.write(Data("usage: DelegateClient MANIFEST ENDPOINT\n".utf8))
      exit(2)
    }
    var configuration = PluginHost.Configuration()
    configuration.endpoint = CommandLine.arguments[2]
    let host = try await PluginHost(manifest: CommandLine.arguments[1], configuration: configuration)
    let transport = HTTPNetworkTransport(url: endpoint, delegate: RequestJournal(), stages: ManifestProvider(host))
    let client = ApolloClient(networkTransport: transport)
    let result = try await client.fetch(query: BookQuery(id: "2"), cachePolicy: .fetchIgnoringCacheData)
    for error in result.errors ?? [] { print("GraphQL error: \(error)") }
    print(result.data?.book?.title ?? "no book")
    await host.shutDown()
  }
}
