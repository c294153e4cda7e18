import Carabiner
import CarabinerProvider
import CarabinerWire
import Foundation
import TestTools

/// Chains of compiled fixtures, and clients that use them.
struct HostedPlugins {
  let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  static let operation = DynamicOperation(document: "{ hero { name } }", operationName: nil)

  /// A client with a chain and a transport that answers `server`.
  static func client(
    _ chain: HostedChain, _ transport: AnsweringTransport = AnsweringTransport()
  ) throws -> ApolloClient {
    guard let url = URL(string: "http://127.0.0.1:1/graphql") else { throw CancellationError() }
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(interceptorProvider: chain, endpointURL: url, httpTransport: transport))
  }

  /// The name that one request through a chain returns.
  static func name(_ chain: HostedChain, _ transport: AnsweringTransport = AnsweringTransport()) async throws -> String? {
    let results = try client(chain, transport).results(of: operation, cachePolicy: .networkOnly)
    var name: String?
    for try await response in results { name = try response.data?["hero"]?["name"]?.string }
    return name
  }
}
