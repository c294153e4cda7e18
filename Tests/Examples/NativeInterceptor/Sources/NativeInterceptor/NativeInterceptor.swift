import Carabiner
import CarabinerCurl
import CarabinerHost
import Foundation

/// Runs a query through the stages of a manifest and two interceptors of this program.
///
/// Usage: NativeInterceptor MANIFEST ENDPOINT
@main
struct NativeInterceptor {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let endpoint = URL(string: CommandLine.arguments[2]) else {
      FileHandle.standardError.write(Data("usage: NativeInterceptor MANIFEST ENDPOINT\n".utf8))
      exit(2)
    }
    var configuration = PluginHost.Configuration()
    configuration.endpoint = CommandLine.arguments[2]
    let host = try await PluginHost(manifest: CommandLine.arguments[1], configuration: configuration)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: OwnAndManifestProvider(manifest: ManifestProvider(host)), endpointURL: endpoint,
        httpTransport: try CurlTransport()))
    for try await response in try client.results(of: DynamicOperation(document: "{ __typename }")) {
      print(String(decoding: response.body.bytes, as: UTF8.self))
    }
    await host.shutDown()
  }
}

/// Puts the interceptors of this program around those of the manifest.
struct OwnAndManifestProvider: InterceptorProvider {
  let manifest: ManifestProvider

  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    var interceptors = try manifest.interceptors(for: operation, context: context)
    interceptors.graphQL.insert(TimingInterceptor(), at: 0)
    interceptors.http.append(RequestIDInterceptor())
    return interceptors
  }
}
