import Carabiner
import CarabinerCurl
import CarabinerServer
import Foundation
import ScriptedServer
import Testing

@Suite("The interceptors of a manifest among one's own")
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

  @Test("a request passes both, and a reload changes those of the manifest")
  func mixed() async throws {
    let chain = try await StampedChain("one")
    let host = try await PluginHost(manifest: chain.manifest)
    let url = try #require(URL(string: "\(chain.upstream.origin)/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: MixedProvider(manifest: ManifestProvider(host)), endpointURL: url, httpTransport: try CurlTransport()
      ))
    try await #expect(client.stamp() == stamped("one mine"))
    try await chain.build("two")
    try await host.reload()
    try await #expect(client.stamp() == stamped("two mine"))
  }
}
