public import Carabiner
internal import CarabinerGateway
internal import CarabinerManifest
internal import Foundation

/// Runs operations through the chain of a host. Each runs in the generation that serves when it starts.
public struct HostTransport: UploadingNetworkTransport {
  let host: PluginHost

  /// The store of the serving generation.
  ///
  /// A reload that changes the store's settings opens another store. Create a new client in that case.
  public var store: ApolloStore { host.live.current.host.client.store }

  public func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    try run(operation, configuration) { transport, configuration in
      try transport.send(operation, fetchBehavior: fetchBehavior, configuration: configuration)
    }
  }

  public func upload<Operation: GraphQLOperation>(
    _ operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    try run(operation, configuration) { transport, configuration in
      guard let transport = transport as? any UploadingNetworkTransport else { throw RequestChainError.cannotUpload(transport) }
      return try transport.upload(operation, files: files, configuration: configuration)
    }
  }

  private func run<Operation: GraphQLOperation>(
    _ operation: Operation, _ configuration: RequestConfiguration,
    _ body: (any NetworkTransport, RequestConfiguration) throws -> PullStream<GraphQLResponse<Operation>>
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let lease = GenerationLease(host.live) { field in
      // An application has only one user, so without a key a canary takes a random share of the operations.
      field.flatMap { configuration.additionalHeaders[$0] } ?? UUID().uuidString
    }
    var configuration = configuration
    if configuration.requestTimeout == nil { configuration.requestTimeout = lease.generation.host.timeout }
    configuration.tracer = host.live.timings.nextTracer(
      beside: configuration.tracer ?? host.chainTracer(in: lease.generation))
    let host = lease.generation.host
    guard host.manifest.ruleIndex.hasSettings else {
      return lease.holding(try body(host.client.networkTransport, configuration))
    }
    let route = host.route(operation, &configuration)
    return lease.holding(route.limited(try body(route.client.networkTransport, configuration), operation))
  }
}

extension ApolloClient {
  /// Creates a client for the chain of a host, with the store of its manifest.
  public convenience init(networkTransport: HostTransport) {
    self.init(networkTransport: networkTransport, store: networkTransport.store)
  }
}
