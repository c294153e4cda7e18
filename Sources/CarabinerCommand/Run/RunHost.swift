internal import Carabiner
internal import CarabinerCurl
internal import CarabinerHost
internal import Foundation

/// A client over the chain of a manifest and the libcurl transport.
struct RunHost: Sendable {
  let client: ApolloClient
  let transport: CurlTransport
  private let timeout: Double?

  init(manifest: Manifest, endpoint: String?, headers: HTTPHeaders, timeout: Double?) throws {
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
    let chain = try HostedChain(
      manifest, overrides: StageOverrides(ProcessInfo.processInfo.environment[StageOverrides.variable]))
    client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: url, httpTransport: transport,
        store: ApolloStore(cache: InMemoryNormalizedCache(maximumRecords: manifest.settings.storeRecords)),
        additionalHeaders: all, wireOptions: manifest.wireOptions, maximumAttempts: manifest.settings.maximumAttempts))
    self.timeout = timeout ?? manifest.settings.timeout?.seconds
  }

  func configuration(_ tracer: (any ChainTracer)?) -> RequestConfiguration {
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
