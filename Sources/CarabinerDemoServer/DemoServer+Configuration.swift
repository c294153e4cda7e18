extension DemoServer {
  /// The address of the demo server, and its requirements on clients.
  package struct Configuration: Sendable {
    package var host = "127.0.0.1"
    /// The port; 0 selects a free one.
    package var port = 0
    /// The largest request body in bytes.
    package var maximumBodyBytes = 1 << 20
    /// Whether requests need a token.
    package var requiresToken = false
    /// The lifetime of a token in seconds.
    package var tokenLifetime = 3600.0
    /// The number of requests that a token is valid for; nil for no limit.
    package var tokenUses: Int?
    /// The secret that clients send to `/token`; nil to accept any.
    package var clientSecret: String?
    /// The key for signatures of requests and responses; nil for no signatures.
    package var signatureKey: String?
    /// The deepest nesting of selections; nil for the default.
    package var maximumDepth: Int?
    /// The most fields of an operation; nil for the default.
    package var maximumFields: Int?
    /// Whether documents are stored under their hashes.
    package var keepsDocuments = true
    /// The time without results after which a subscription sends a heartbeat.
    package var heartbeat = Duration.seconds(5)

    package init() {}
  }
}

extension DemoSite.Settings {
  init(_ configuration: DemoServer.Configuration) {
    requiresToken = configuration.requiresToken
    tokens = TokenMint.Terms(lifetime: configuration.tokenLifetime, uses: configuration.tokenUses)
    clientSecret = configuration.clientSecret
    signature = configuration.signatureKey.map(MessageSignature.init)
    if let depth = configuration.maximumDepth { limits.depth = depth }
    if let fields = configuration.maximumFields { limits.fields = fields }
    keepsDocuments = configuration.keepsDocuments
    heartbeat = configuration.heartbeat
  }
}
