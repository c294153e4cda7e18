internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerDigest
internal import CarabinerFiles
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerUpstreams
internal import CarabinerWebSocket
internal import Foundation

/// A client for the chain of a manifest, with the libcurl transport and a WebSocket if one is configured.
///
/// A class, because a copy of its parts for each operation would cost more than the rest of its work.
final class ChainRuntime: Sendable {
  let client: ApolloClient
  /// The clients for upstreams other than `main`.
  private let others: [String: ApolloClient]
  /// The upstreams of the manifest.
  let upstreams: UpstreamSet
  let transport: CurlTransport
  let manifest: Manifest
  let chain: HostedChain
  /// The timers and the network access of plugins.
  private let environment: HostEnvironment
  /// The secrets that no output may contain.
  private let hidden: HiddenSecrets
  private let webSocket: WebSocketTransport?
  let timeout: Double?
  /// The URL of the upstream.
  let endpointURL: URL
  /// The header fields of each request, with secrets.
  let headers: HTTPHeaders
  /// The SHA-256 digest of the certificate authority file when the transport was created; nil if there is none, or it cannot be
  /// read.
  private let authorities: [UInt8]?
  /// The maximum size of that file, in bytes.
  private static let maximumAuthorityBytes = 16 << 20
  /// The digest of the login and the certificates that the store was opened with; nil if it is not in Redis.
  private let storeIdentity: [UInt8]?
  /// Whether the program has interceptors of its own, which may read results.
  private let hasOwnInterceptors: Bool

  /// - Parameters:
  ///   - isolation: The plugins that the environment puts into workers.
  ///   - predecessor: The runtime that this one replaces. Connections, store and plugins are kept where their settings are the
  ///     same.
  ///   - anew: Whether all plugin instances are recreated nevertheless.
  ///   - generation: The number of the generation.
  ///   - crashLoop: The record of plugins that crashed the host.
  ///   - fallbackEndpoint: The endpoint if neither the caller nor the manifest names one; nil if one of them has to.
  ///   - passesGraphQLErrors: Whether responses with GraphQL errors and a status of 400 to 499 are results.
  ///   - own: The interceptors of the program.
  ///   - observer: Observes the chain.
  ///   - output: Logs and warnings, without secrets.
  ///   - sending: Returns the transport for requests of the chain. Its arguments are a transport, and the retries of its failed
  ///     requests.
  ///   - fetching: Returns the transport for requests of plugins.
  init(
    manifest: Manifest, endpoint: String?, headers: HTTPHeaders, wire: WireChoice, timeout: Double?, output: HostOutput,
    overrides: StageOverrides = StageOverrides(environment: ProcessInfo.processInfo.environment),
    isolation: IsolationOverrides = IsolationOverrides(environment: ProcessInfo.processInfo.environment),
    replacing predecessor: ChainRuntime? = nil, anew: Bool = false, generation: UInt64 = 1, crashLoop: CrashLoopGuard? = nil,
    fallbackEndpoint: String? = nil, passesGraphQLErrors: Bool = false, own: OwnInterceptors = OwnInterceptors(),
    observer: any ChainObserver = CacheFailureLog(),
    sending: (any HTTPTransport, EndpointRecovery?) -> any HTTPTransport = { base, _ in base },
    fetching: (CurlTransport) -> any HTTPTransport = { $0 }
  ) throws {
    let manifest = try wire.applied(to: manifest)
    for warning in manifest.warnings { output.warn("\(warning)") }
    let secrets = SecretReferences(directory: manifest.directory)
    let mainUpstream = manifest.upstreams.first { $0.name == Manifest.mainUpstream }
    let endpointText =
      try endpoint ?? manifest.resolvedEndpoint(secrets)?.value
      ?? mainUpstream.flatMap { try manifest.resolvedEndpoints(of: $0, secrets).first?.value } ?? fallbackEndpoint
    let webSocketText = try manifest.resolvedWebSocketURL(secrets)
    guard let text = endpointText ?? webSocketText?.value else {
      throw ServerError.invalid(
        "no endpoint: give --endpoint URL, or endpoint: or upstreams: {main: …} in the manifest; or --websocket URL")
    }
    guard let url = URL(string: text), url.host() != nil,
      endpointText == nil || ["http", "https"].contains(url.scheme?.lowercased())
    else {
      throw ServerError.invalid(
        "the endpoint is not an http or https URL with a host; check --endpoint, or endpoint: in the manifest")
    }
    // The parsed URL may be spelled differently, so it is hidden as well.
    var hidden = manifest.redaction(secrets)
    if endpoint == nil, endpointText != nil, mainUpstream == nil, text != manifest.endpoint {
      hidden = hidden.hiding(url.absoluteString, behind: manifest.endpoint ?? "")
    }
    if let webSocketText, webSocketText.value != webSocketText.written, let url = URL(string: webSocketText.value) {
      hidden = hidden.hiding(url.absoluteString, behind: webSocketText.written)
    }
    endpointURL = url
    var configuration = CurlTransport.Configuration(manifest.settings)
    if manifest.callProtocol != .graphQL {
      // Calls have a time limit and a limit for messages of their own. A stream may be long.
      configuration.totalTimeout = .infinity
      configuration.maximumBodyBytes = .max
    }
    // libcurl keeps the authorities in memory, so other authorities need a new transport.
    authorities = try? configuration.certificateAuthorityFile.map {
      Digest.sha256(try BoundedFile.bytes(at: $0, maximumBytes: Self.maximumAuthorityBytes))
    }
    if let predecessor, case let earlier = predecessor.transport, earlier.configuration == configuration,
      predecessor.authorities == authorities
    {
      transport = earlier
    } else {
      transport = try CurlTransport(configuration: configuration, replacing: predecessor?.transport)
    }
    self.manifest = manifest
    let upstreams: UpstreamSet
    do {
      upstreams = try UpstreamSet(
        UpstreamSet.Parts(
          manifest: manifest, secrets: secrets, endpoint: endpoint, transport: transport, configuration: configuration),
        replacing: predecessor?.upstreams)
    } catch let error as UpstreamError {
      throw ServerError.invalid(error.description)
    }
    self.upstreams = upstreams
    self.hidden = output.secrets.hide(upstreams.hiding(hidden))
    // While the transport stays the same, plugin instances are kept, with the environment that they were created in.
    let transport = transport
    environment =
      predecessor.flatMap { $0.transport === transport ? $0.environment : nil }
      ?? HostEnvironment(transport: fetching(transport)) { [loop = transport.loop] delay, body in
        let timer = loop.schedule(after: delay, body)
        return { loop.cancel(timer) }
      }
    var all = try manifest.resolvedHeaders(secrets)
    all.replace(with: headers)
    self.headers = all
    let store: ApolloStore
    storeIdentity = try manifest.storeIdentity(secrets)
    if let predecessor, manifest.canKeepStore(of: predecessor.manifest), predecessor.storeIdentity == storeIdentity {
      store = predecessor.client.store
    } else {
      store = try manifest.openStore(secrets)
    }
    let chain = try HostedChain(
      manifest, environment: environment, store: store, overrides: overrides, replacing: predecessor?.chain, anew: anew,
      generation: generation, crashLoop: crashLoop, passesGraphQLErrors: passesGraphQLErrors,
      isolation: isolation)
    self.chain = chain
    hasOwnInterceptors = !own.isEmpty
    let provider = own.around(chain)
    func network(_ url: URL, _ sender: any HTTPTransport) -> RequestChainNetworkTransport {
      RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: url, httpTransport: sender, store: store, additionalHeaders: all,
        wireOptions: manifest.wireOptions, maximumAttempts: manifest.settings.maximumAttempts, observer: observer)
    }
    let main = upstreams[Manifest.mainUpstream].map { sending(UpstreamTransport($0), nil) }
    let http = network(url, main ?? sending(transport, upstreams.recovery))
    var others: [String: ApolloClient] = [:]
    for upstream in upstreams.all where upstream.settings.name != Manifest.mainUpstream {
      let transport = network(upstream.endpoints[0].url, sending(UpstreamTransport(upstream), nil))
      others[upstream.settings.name] = ApolloClient(networkTransport: transport, store: store)
    }
    self.others = others
    webSocket = try webSocketText.map {
      try WebSocketTransport($0, manifest, secrets, headers: all, provider: provider, store: store, observer: observer)
    }
    var mainNetwork: any NetworkTransport = http
    if let webSocket {
      mainNetwork = endpointText == nil ? webSocket : SplitNetworkTransport(subscriptions: webSocket, others: http)
    }
    client = ApolloClient(networkTransport: mainNetwork, store: store)
    self.timeout = timeout ?? manifest.settings.timeout?.seconds
  }

  /// Checks that the stage `persisted-queries` runs for an operation.
  ///
  /// - Throws: A usage error if it does not.
  func requirePersistedQueries(for operation: DynamicOperation) throws {
    let plan = chain.plan(operation.operationName, operation.operationType)
    guard plan.active(.graphQL).contains(where: { $0.name == "persisted-queries" }) else {
      throw ServerError.invalid(
        "--apq needs the stage persisted-queries, which this operation does not pass; put it into the graphql list")
    }
  }

  /// Runs an operation of a client, with the client's fields that are forwarded.
  ///
  /// - Parameters:
  ///   - path: The path of a gateway at which the operation arrived; nil for none.
  ///   - takesPassedBody: Whether the caller takes a body, or results of a subscription, that are passed on.
  func results(
    of operation: DynamicOperation, headers: HTTPHeaders, cachePolicy: CachePolicy, path: String? = nil,
    takesPassedBody: Bool = false, tracer: (any ChainTracer)?
  ) throws -> PullStream<GraphQLResponse<DynamicOperation>> {
    var configuration = configuration(tracer)
    configuration.additionalHeaders = headers
    // A result that is never read from the cache is not written to it.
    configuration.writeResultsToCache = cachePolicy != .networkOnly
    configuration.form = operation.form
    configuration.takesPassedBody = takesPassedBody && !hasOwnInterceptors
    if manifest.ruleIndex.hasPaths { configuration.route = path }
    guard manifest.ruleIndex.hasSettings else {
      return try client.results(of: operation, cachePolicy: cachePolicy, configuration: configuration)
    }
    let route = route(operation, &configuration)
    return try route.limited(
      route.client.results(of: operation, cachePolicy: cachePolicy, configuration: configuration), operation)
  }

  /// The client and the time limit that the rules choose for an operation.
  func route(_ operation: some GraphQLOperation, _ configuration: inout RequestConfiguration) -> OperationRoute {
    let (timeout, upstream) = manifest.ruleIndex.settings(
      operation.operationName, operation.operationType, path: configuration.route)
    if let timeout { configuration.requestTimeout = timeout.seconds }
    return OperationRoute(client: upstream.flatMap { others[$0] } ?? client, timeout: timeout)
  }

  /// Ends the subscriptions at the WebSocket's server.
  func shutDown() async { await webSocket?.shutDown() }

  private func configuration(_ tracer: (any ChainTracer)?) -> RequestConfiguration {
    RequestConfiguration(requestTimeout: timeout, tracer: tracer)
  }
}

extension CurlTransport.Configuration {
  init(_ settings: Manifest.Settings) {
    self.init()
    connectTimeout = settings.connectTimeout.seconds
    maximumConnectionsPerHost = settings.connectionsPerHost ?? 0
    maximumHeadBytes = settings.maximumHeadBytes
    maximumBodyBytes = settings.maximumBodyBytes
    redirectHeaders = settings.redirectHeaders
    certificateAuthorityFile = settings.certificateAuthorityFile
    engine = settings.engine == .libcurl ? .libcurl : .auto
  }
}

extension WebSocketTransport {
  /// Creates the WebSocket of a manifest, with the same chain and store as HTTP.
  init(
    _ text: SecretText, _ manifest: Manifest, _ secrets: SecretReferences, headers: HTTPHeaders,
    provider: any InterceptorProvider, store: ApolloStore, observer: any ChainObserver
  ) throws {
    guard let url = URL(string: text.value) else {
      throw ServerError.invalid(
        "\(PrintableURL(text.written)) is not a WebSocket URL; check --websocket, or settings: {websocket: {url: …}} in the manifest"
      )
    }
    var configuration = Configuration()
    if let settings = manifest.settings.webSocket {
      configuration.webSocketProtocol = settings.webSocketProtocol
      configuration.acknowledgementTimeout = settings.acknowledgementTimeout
      configuration.pingInterval = settings.pingInterval
      configuration.maximumMessageBytes = settings.maximumMessageBytes
      configuration.reconnection.maximumAttempts = settings.reconnects
    }
    if let payload = try manifest.resolvedConnectionInit(secrets) { configuration.connectionPayload = { payload } }
    configuration.maximumMergedBytes = manifest.settings.maximumBodyBytes
    configuration.connectTimeout = manifest.settings.connectTimeout
    configuration.certificateAuthorityFile = manifest.settings.certificateAuthorityFile
    configuration.identities = IdentityLimits(manifest.settings)
    try self.init(
      url: url, interceptorProvider: provider, store: store, additionalHeaders: headers, wireOptions: manifest.wireOptions,
      configuration: configuration, maximumAttempts: manifest.settings.maximumAttempts, observer: observer)
  }
}

extension WebSocketTransport.IdentityLimits {
  /// Fields about one request, and fields of a body, which a handshake does not have.
  private static let ignored = [
    RequestID.field, "traceparent", "tracestate", "content-length", "content-encoding", "transfer-encoding", "te", "trailer",
    "expect",
  ]

  fileprivate init(_ settings: Manifest.Settings) {
    self.init()
    connections = settings.connectionsPerHost ?? connections
    ignoredHeaders = Self.ignored
  }
}
