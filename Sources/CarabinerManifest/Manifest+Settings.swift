package import Carabiner

extension Manifest {
  /// How operations are put into HTTP requests.
  package var wireOptions: WireOptions {
    WireOptions(
      usesGETForQueries: settings.usesGETForQueries, persistedQueries: persistedQueries, clientAwareness: settings.clientAwareness
    )
  }

  /// Limits and timeouts for the whole host.
  package struct Settings: Sendable, Hashable {
    /// About how many bytes the records of a store in memory take unless the manifest says otherwise.
    package static let defaultStoreBytes = 64 << 20
    /// How much memory is kept for plugins that did not resume in time unless the manifest says otherwise, 256 MiB.
    package static let defaultKeptMemoryBytes = 256 << 20
    /// How long a circuit breaker stays open unless the manifest says otherwise.
    package static let defaultBreakerCoolDown = Duration.seconds(30)

    /// Where the copies of plugins are kept that are mapped.
    package var staging = StagingMode.standard
    /// How long a request may take with all its retries; nil for no limit.
    package var timeout: Duration?
    package var connectTimeout = Duration.seconds(10)
    /// How many connections a server gets at most; nil for no limit.
    package var connectionsPerHost: Int?
    /// How large the head of a response may be.
    package var maximumHeadBytes = 256 << 10
    /// How large the body of a response may be.
    package var maximumBodyBytes = 64 << 20
    /// Which headers of a request, or beginnings of their names and a star, follow a redirect to another origin, beside those that describe the body.
    package var redirectHeaders: [String] = []
    /// How large one part of a response in parts may be. Deferred parts together may have ``maximumBodyBytes``.
    package var maximumPartBytes = ResponseLimits.defaultMaximumPartBytes
    /// How long a response in parts may go without a result, whatever signs of life come; nil for as long as it takes.
    package var idleTimeout: Duration?
    /// How often a request may go through the chain, whoever asks for it.
    package var maximumAttempts = 10
    /// How often plugins may ask for a retry of one request.
    package var pluginRetries = 3
    /// How long a plugin may take to end a cancelled call.
    package var cancelGrace = Duration.seconds(1)
    /// How much memory may be kept for plugins that did not resume in time before calls are refused.
    package var keptMemoryBytes = Self.defaultKeptMemoryBytes
    /// How long a circuit breaker stays open before a request tries the plugin again.
    package var breakerCoolDown = Self.defaultBreakerCoolDown
    /// What is done about plugins that kill the host again and again; nil for nothing.
    package var crashLoop: CrashLoopPolicy?
    /// A file of certificates to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// How many records a store in memory keeps.
    package var storeRecords = 10_000
    /// About how many bytes the records of a store in memory take.
    package var storeBytes = Self.defaultStoreBytes
    /// How many fields a record of a root may have.
    package var storeFields = InMemoryNormalizedCache.defaultMaximumFields
    /// Whether queries are sent with GET.
    package var usesGETForQueries = false
    /// What servers are told about the program that asks; nil for nothing.
    package var clientAwareness: ClientAwareness?
    /// Where and how subscriptions go over a WebSocket; nil if they go over HTTP.
    package var webSocket: WebSocket?
  }
}
