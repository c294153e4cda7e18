internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerManifest
internal import CarabinerProvider
internal import Foundation

/// `carabiner-bench host MANIFEST`: starts the host of a manifest, reports that it is ready, and ends.
struct Host: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Start the host of a manifest, report that it is ready, and end.", shouldDisplay: false)

  /// The output of a host that is ready.
  static let readiness = Data("ready\n".utf8)

  @Argument(help: "The manifest.")
  var manifest: String

  func run() throws {
    let manifest = try Manifest.load(path: manifest)
    let transport = try CurlTransport()
    let environment = HostEnvironment(transport: transport) { [loop = transport.loop] delay, body in
      let timer = loop.schedule(after: delay, body)
      return { loop.cancel(timer) }
    }
    guard let url = URL(string: "http://127.0.0.1/graphql") else { throw ExitCode.failure }
    let store = ApolloStore()
    let chain = try HostedChain(manifest, environment: environment, store: store)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: url, httpTransport: transport, store: store))
    withExtendedLifetime(client) { FileHandle.standardOutput.write(Self.readiness) }
  }
}
