internal import Carabiner
internal import CarabinerCurl
internal import CarabinerHost
internal import Foundation

/// A client over the chain of a manifest and the libcurl transport.
struct RunHost: Sendable {
  let client: ApolloClient
  let transport: CurlTransport
  private let chain: HostedChain
  private let timeout: Double?

  init(manifest: Manifest, endpoint: String?, headers: HTTPHeaders, wire: WireChoice, timeout: Double?) throws {
    let manifest = wire.applied(to: manifest)
    for warning in manifest.warnings { Terminal.complain("warning: \(warning)") }
    let secrets = SecretReferences(directory: manifest.directory)
    guard let text = try endpoint ?? manifest.resolvedEndpoint(secrets)?.value else {
      throw usageError("no endpoint: give --endpoint URL, or endpoint: in the manifest")
    }
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil else {
      throw usageError("the endpoint is no http or https URL with a host; check --endpoint, or endpoint: in the manifest")
    }
    // As a URL it may look different, so the whole of it is hidden as well.
    let hidden = manifest.redaction(secrets)
    Terminal.hide(
      endpoint == nil && text != manifest.endpoint
        ? hidden.hiding(url.absoluteString, behind: manifest.endpoint ?? "") : hidden)
    transport = try CurlTransport(configuration: CurlTransport.Configuration(manifest.settings))
    HostEnvironment.current = HostEnvironment(transport: transport) { [loop = transport.loop] delay, body in
      loop.schedule(after: delay, body)
    }
    var all = try manifest.resolvedHeaders(secrets)
    all.replace(with: headers)
    let store = try manifest.openStore()
    let chain = try HostedChain(
      manifest, store: store, overrides: StageOverrides(ProcessInfo.processInfo.environment[StageOverrides.variable]))
    self.chain = chain
    client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: url, httpTransport: transport,
        store: store,
        additionalHeaders: all, wireOptions: manifest.wireOptions, maximumAttempts: manifest.settings.maximumAttempts))
    self.timeout = timeout ?? manifest.settings.timeout?.seconds
  }

  /// Checks that this operation passes the stage that sends hashes.
  ///
  /// - Throws: A usage error if it does not.
  func requirePersistedQueries(for operation: DynamicOperation) throws {
    let plan = chain.plan(operation.operationName, operation.operationType)
    guard plan.active(.graphql).contains(where: { $0.name == "persisted-queries" }) else {
      throw usageError(
        "--apq needs the stage persisted-queries, which this operation does not pass; put it into the graphql list")
    }
  }

  /// Runs an operation, with the files that are some of its variables.
  func results(
    of operation: DynamicOperation, _ files: [GraphQLFile], cachePolicy: CachePolicy, tracer: (any ChainTracer)?
  ) throws -> PullStream<GraphQLResponse<DynamicOperation>> {
    guard files.isEmpty else { return try client.results(of: operation, uploading: files, configuration: configuration(tracer)) }
    return try client.results(of: operation, cachePolicy: cachePolicy, configuration: configuration(tracer))
  }

  private func configuration(_ tracer: (any ChainTracer)?) -> RequestConfiguration {
    RequestConfiguration(requestTimeout: timeout, tracer: tracer)
  }
}

extension CurlTransport.Configuration {
  init(_ settings: Manifest.Settings) {
    self.init()
    connectTimeout = settings.connectTimeout.seconds
    maximumHeadBytes = settings.maximumHeadBytes
    maximumBodyBytes = settings.maximumBodyBytes
    certificateAuthorityFile = settings.certificateAuthorityFile
  }
}
