extension DemoServer {
  /// Where the demo server listens, and what it asks of clients.
  package struct Configuration: Sendable {
    package var host = "127.0.0.1"
    /// The port; 0 takes any free one.
    package var port = 0
    /// How large the body of a request may be, in bytes.
    package var maximumBodyBytes = 1 << 20
    /// Whether requests need a token.
    package var requiresToken = false
    /// How many seconds a token is good.
    package var tokenLifetime = 3600.0
    /// For how many requests a token is good; nil for any number.
    package var tokenUses: Int?
    /// The secret that clients of `/token` send; nil if any will do.
    package var clientSecret: String?
    /// The key that requests and responses are signed with; nil for none.
    package var signatureKey: String?
    /// How deep selections may be nested; nil for the default.
    package var maximumDepth: Int?
    /// How many fields a request may select; nil for the default.
    package var maximumFields: Int?
    /// Whether documents are kept by their hashes.
    package var keepsDocuments = true
    /// How long a subscription may be silent before it sends a sign of life.
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
