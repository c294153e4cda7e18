package import Carabiner
package import CarabinerCurl
internal import CarabinerDigest
internal import CarabinerFiles
package import CarabinerManifest

/// The upstreams of a generation.
package struct UpstreamSet: Sendable {
  /// The parts that upstreams are made of.
  package struct Parts {
    let manifest: Manifest
    let secrets: SecretReferences
    /// The endpoint of the command line, which replaces those of `main`; nil if there is none.
    let endpoint: String?
    /// The host's transport. Upstreams without certificates and connection limits of their own use it.
    let transport: CurlTransport
    let configuration: CurlTransport.Configuration

    package init(
      manifest: Manifest, secrets: SecretReferences, endpoint: String?, transport: CurlTransport,
      configuration: CurlTransport.Configuration
    ) {
      self.manifest = manifest
      self.secrets = secrets
      self.endpoint = endpoint
      self.transport = transport
      self.configuration = configuration
    }
  }

  /// The maximum size of a file with certificates, in bytes.
  private static let maximumFileBytes = 16 << 20

  /// An upstream, and the values that decide whether a reload keeps it.
  private struct Member: Sendable {
    let upstream: Upstream
    let configuration: CurlTransport.Configuration
    /// The digests of the files with certificates; nil for a file that cannot be read.
    let digests: [[UInt8]?]
  }

  private let members: [String: Member]
  /// The counters of all current and earlier upstreams, by name.
  private let counters: [String: UpstreamCounters]
  /// Retries requests to a single endpoint; nil if `main` is an upstream with endpoints of its own.
  package let recovery: EndpointRecovery?

  /// The upstreams, sorted by name.
  package var all: [Upstream] { members.values.map(\.upstream).sorted { $0.settings.name < $1.settings.name } }

  /// The upstream with this name; nil if there is none, or it is `main` with a single endpoint.
  package subscript(name: String) -> Upstream? { members[name]?.upstream }

  /// - Parameter predecessor: The set that this one replaces. Upstreams whose settings and files are the same are kept.
  /// - Throws: ``ManifestError`` or ``UpstreamError`` for a URL that cannot be used.
  package init(_ parts: Parts, replacing predecessor: UpstreamSet?) throws {
    var members: [String: Member] = [:]
    var counters = predecessor?.counters ?? [:]
    for settings in parts.manifest.upstreams {
      let shared = counters[settings.name] ?? UpstreamCounters()
      counters[settings.name] = shared
      members[settings.name] = try Self.member(settings, parts, shared, replacing: predecessor?.members[settings.name])
    }
    self.members = members
    guard members[Manifest.mainUpstream] == nil else {
      self.counters = counters
      recovery = nil
      return
    }
    let shared = counters[Manifest.mainUpstream] ?? UpstreamCounters()
    counters[Manifest.mainUpstream] = shared
    self.counters = counters
    recovery = EndpointRecovery(transport: parts.transport, counters: shared)
  }

  private static func member(
    _ settings: Manifest.Upstream, _ parts: Parts, _ counters: UpstreamCounters, replacing predecessor: Member?
  ) throws -> Member {
    var settings = settings
    let texts: [SecretText]
    if settings.name == Manifest.mainUpstream, let endpoint = parts.endpoint {
      settings.endpoints = [Manifest.Upstream.Endpoint(url: endpoint)]
      settings.outliers = nil
      texts = [SecretText(value: endpoint, written: endpoint)]
    } else {
      texts = try parts.manifest.resolvedEndpoints(of: settings, parts.secrets)
    }
    let endpoints = try zip(settings.endpoints, texts).enumerated().map { index, pair in
      try UpstreamEndpoint(
        pair.1.value, written: pair.1.written, weight: pair.0.weight, isBackup: pair.0.isBackup,
        place: "endpoint \(index) of the upstream \(settings.name)")
    }
    let configuration = configuration(of: settings, parts.configuration)
    let files = [settings.tls?.authorities, settings.tls?.certificate, settings.tls?.key].compactMap(\.self)
    // libcurl keeps files in memory, so other contents need a new transport.
    let digests = files.map { try? Digest.sha256(BoundedFile.bytes(at: $0, maximumBytes: maximumFileBytes)) }
    let transport: CurlTransport
    if configuration == parts.configuration {
      transport = parts.transport
    } else if let predecessor, predecessor.configuration == configuration, predecessor.digests == digests {
      transport = predecessor.upstream.transport
    } else {
      transport = try CurlTransport(configuration: configuration)
    }
    if let predecessor, case let earlier = predecessor.upstream, earlier.settings == settings, earlier.endpoints == endpoints,
      earlier.transport === transport
    {
      return Member(upstream: earlier, configuration: configuration, digests: digests)
    }
    let upstream = Upstream(settings, endpoints, transport: transport, counters: counters)
    return Member(upstream: upstream, configuration: configuration, digests: digests)
  }

  private static func configuration(
    of upstream: Manifest.Upstream, _ host: CurlTransport.Configuration
  ) -> CurlTransport.Configuration {
    var configuration = host
    if let tls = upstream.tls {
      configuration.certificateAuthorityFile = tls.authorities ?? configuration.certificateAuthorityFile
      configuration.clientCertificateFile = tls.certificate
      configuration.clientKeyFile = tls.key
    }
    if let connections = upstream.limits.connections {
      configuration.maximumConnectionsPerHost = max(1, connections / upstream.endpoints.count)
    }
    return configuration
  }

  /// Hides the URLs of the endpoints, which may contain secrets.
  package func hiding(_ redaction: SecretRedaction) -> SecretRedaction {
    all.reduce(redaction) { redaction, upstream in
      zip(upstream.endpoints, upstream.settings.endpoints).reduce(redaction) { redaction, pair in
        pair.1.url.contains("${") ? redaction.hiding(pair.0.text, behind: pair.1.url) : redaction
      }
    }
  }

  /// Starts the checks of endpoints and the lookups of their names.
  package func watch(_ headers: HTTPHeaders) {
    for upstream in all { upstream.watch(headers) }
  }

  /// The counters by the name of the upstream, sorted.
  package var countersByName: [(name: String, counters: UpstreamCounters)] {
    (Set(members.keys).union(recovery == nil ? [] : [Manifest.mainUpstream])).sorted().compactMap { name in
      counters[name].map { (name, $0) }
    }
  }
}
