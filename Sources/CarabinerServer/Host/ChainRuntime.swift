internal import Carabiner
internal import CarabinerCurl
internal import CarabinerDigest
internal import CarabinerFiles
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWebSocket
internal import Foundation

/// A client over the chain of a manifest, the libcurl transport, and a WebSocket if one is named.
struct ChainRuntime: Sendable {
  let client: ApolloClient
  let transport: CurlTransport
  let manifest: Manifest
  let chain: HostedChain
  /// Time and network for plugins.
  private let environment: HostEnvironment
  /// What no output may show.
  private let hidden: HiddenSecrets
  private let webSocket: WebSocketTransport?
  let timeout: Double?
  /// What the file of certificate authorities held when the transport was made; nil if there is none, or it cannot be read.
  private let authorities: [UInt8]?
  /// How large that file may be.
  private static let maximumAuthorityBytes = 16 << 20

  /// - Parameters:
  ///   - predecessor: The host this one takes the place of. Connections, store and plugins go on where their settings are the same.
  ///   - anew: Whether all instances of plugins are made anew nevertheless.
  ///   - generation: Which generation of the manifest this is.
  ///   - crashLoop: What is known of plugins that killed the host.
  ///   - fallbackEndpoint: Where the server is if nobody says; nil if somebody has to.
  ///   - passesGraphQLErrors: Whether GraphQL errors with a status of 400 to 499 are results.
  ///   - observer: Is told what callers do not notice.
  ///   - output: Where the host reports, and what no report may show.
  ///   - sending: What the chain sends its requests with, over the transport.
  ///   - fetching: What plugins send requests of their own with.
  init(
    manifest: Manifest, endpoint: String?, headers: HTTPHeaders, wire: WireChoice, timeout: Double?, output: HostOutput,
    overrides: StageOverrides = StageOverrides(environment: ProcessInfo.processInfo.environment),
    replacing predecessor: ChainRuntime? = nil, anew: Bool = false, generation: UInt64 = 1, crashLoop: CrashLoopGuard? = nil,
    fallbackEndpoint: String? = nil, passesGraphQLErrors: Bool = false, observer: any ChainObserver = CacheFailureLog(),
    sending: (CurlTransport) -> any HTTPTransport = { $0 }, fetching: (CurlTransport) -> any HTTPTransport = { $0 }
  ) throws {
    let manifest = try wire.applied(to: manifest)
    for warning in manifest.warnings { output.warn("\(warning)") }
    let secrets = SecretReferences(directory: manifest.directory)
    let endpointText = try endpoint ?? manifest.resolvedEndpoint(secrets)?.value ?? fallbackEndpoint
    let webSocketText = try manifest.resolvedWebSocketURL(secrets)
    guard let text = endpointText ?? webSocketText?.value else {
      throw ServerError.invalid("no endpoint: give --endpoint URL, or endpoint: in the manifest; or --websocket URL")
    }
    guard let url = URL(string: text), url.host() != nil,
      endpointText == nil || ["http", "https"].contains(url.scheme?.lowercased())
    else {
      throw ServerError.invalid(
        "the endpoint is no http or https URL with a host; check --endpoint, or endpoint: in the manifest")
    }
    // As a URL it may look different, so the whole of it is hidden as well.
    var hidden = manifest.redaction(secrets)
    if endpoint == nil, endpointText != nil, text != manifest.endpoint {
      hidden = hidden.hiding(url.absoluteString, behind: manifest.endpoint ?? "")
    }
    if let webSocketText, webSocketText.value != webSocketText.written, let url = URL(string: webSocketText.value) {
      hidden = hidden.hiding(url.absoluteString, behind: webSocketText.written)
    }
    self.hidden = output.secrets.hide(hidden)
    let configuration = CurlTransport.Configuration(manifest.settings)
    // libcurl keeps the authorities in memory, so a transport with others has to be a new one.
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
    // As long as the transport stays the same, so do the instances of plugins, which keep the environment they were made in.
    let transport = transport
    environment =
      predecessor.flatMap { $0.transport === transport ? $0.environment : nil }
      ?? HostEnvironment(transport: fetching(transport)) { [loop = transport.loop] delay, body in
        let timer = loop.schedule(after: delay, body)
        return { loop.cancel(timer) }
      }
    var all = try manifest.resolvedHeaders(secrets)
    all.replace(with: headers)
    let store: ApolloStore
    if let predecessor, manifest.canKeepStore(of: predecessor.manifest) {
      store = predecessor.client.store
    } else {
      store = try manifest.openStore()
    }
    let chain = try HostedChain(
      manifest, environment: environment, store: store, overrides: overrides, replacing: predecessor?.chain, anew: anew,
      generation: generation, crashLoop: crashLoop, passesGraphQLErrors: passesGraphQLErrors)
    self.chain = chain
    let http = RequestChainNetworkTransport(
      interceptorProvider: chain, endpointURL: url, httpTransport: sending(transport), store: store, additionalHeaders: all,
      wireOptions: manifest.wireOptions, maximumAttempts: manifest.settings.maximumAttempts, observer: observer)
    webSocket = try webSocketText.map {
      try WebSocketTransport($0, manifest, secrets, headers: all, chain: chain, store: store, observer: observer)
    }
    var network: any NetworkTransport = http
    if let webSocket {
      network = endpointText == nil ? webSocket : SplitNetworkTransport(subscriptions: webSocket, others: http)
    }
    client = ApolloClient(networkTransport: network, store: store)
    self.timeout = timeout ?? manifest.settings.timeout?.seconds
  }

  /// Checks that this operation passes the stage that sends hashes.
  ///
  /// - Throws: A usage error if it does not.
  func requirePersistedQueries(for operation: DynamicOperation) throws {
    let plan = chain.plan(operation.operationName, operation.operationType)
    guard plan.active(.graphql).contains(where: { $0.name == "persisted-queries" }) else {
      throw ServerError.invalid(
        "--apq needs the stage persisted-queries, which this operation does not pass; put it into the graphql list")
    }
  }

  /// Runs an operation for somebody else, with what of their header goes on.
  func results(
    of operation: DynamicOperation, headers: HTTPHeaders, cachePolicy: CachePolicy, tracer: (any ChainTracer)?
  ) throws -> PullStream<GraphQLResponse<DynamicOperation>> {
    var configuration = configuration(tracer)
    configuration.additionalHeaders = headers
    // What nobody reads is not kept.
    configuration.writeResultsToCache = cachePolicy != .networkOnly
    return try client.results(of: operation, cachePolicy: cachePolicy, configuration: configuration)
  }

  /// Tells a WebSocket's server that nobody wants more.
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
  }
}

extension WebSocketTransport {
  /// The WebSocket of a manifest, with the chain and the store that HTTP has as well.
  init(
    _ text: SecretText, _ manifest: Manifest, _ secrets: SecretReferences, headers: HTTPHeaders, chain: HostedChain,
    store: ApolloStore, observer: any ChainObserver
  ) throws {
    guard let url = URL(string: text.value) else {
      throw ServerError.invalid(
        "\(PrintableURL(text.written)) is no URL of a WebSocket; check --websocket, or settings: {websocket: {url: …}} in the manifest"
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
    try self.init(
      url: url, interceptorProvider: chain, store: store, additionalHeaders: headers, wireOptions: manifest.wireOptions,
      configuration: configuration, maximumAttempts: manifest.settings.maximumAttempts, observer: observer)
  }
}
