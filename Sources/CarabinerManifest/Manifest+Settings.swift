package import Carabiner

extension Manifest {
  /// The encoding of operations as HTTP requests.
  package var wireOptions: WireOptions {
    WireOptions(
      usesGETForQueries: settings.usesGETForQueries, persistedQueries: persistedQueries,
      clientAwareness: settings.clientAwareness, subscriptionFormat: settings.subscriptionFormat)
  }

  /// Limits and timeouts for the whole host.
  package struct Settings: Sendable, Hashable {
    /// The default of ``storeBytes``, 64 MiB.
    package static let defaultStoreBytes = 64 << 20
    /// The default of ``storeFileBytes``, 256 MiB.
    package static let defaultStoreFileBytes = 256 << 20
    /// The default of ``keptMemoryBytes``, 256 MiB.
    package static let defaultKeptMemoryBytes = 256 << 20
    /// The default of ``breakerCoolDown``.
    package static let defaultBreakerCoolDown = Duration.seconds(30)

    /// The code that sends requests to the upstream.
    package enum Engine: String, Sendable, Hashable, CaseIterable {
      /// The engine of this project for HTTP/1.1, and libcurl for requests that the engine cannot send.
      case auto
      /// Always libcurl.
      case libcurl
    }

    /// The place of the plugin copies that the host maps.
    package var staging = StagingMode.standard
    /// The time limit for a request with all its retries; nil for no limit.
    package var timeout: Duration?
    package var connectTimeout = Duration.seconds(10)
    /// The most connections to one server; nil for no limit.
    package var connectionsPerHost: Int?
    /// The largest response head in bytes.
    package var maximumHeadBytes = 256 << 10
    /// The largest response body in bytes.
    package var maximumBodyBytes = 64 << 20
    /// Request headers that are sent to another origin after a redirect, besides those that describe the body. A trailing `*` matches
    /// all names with that prefix.
    package var redirectHeaders: [String] = []
    /// The largest part of a multipart response in bytes. ``maximumBodyBytes`` limits all deferred parts together.
    package var maximumPartBytes = ResponseLimits.defaultMaximumPartBytes
    /// The longest time without a result in a multipart response; heartbeats do not count. Nil for no limit.
    package var idleTimeout: Duration?
    /// The maximum number of times that a request passes the chain, no matter which stage asks for a retry.
    package var maximumAttempts = 10
    /// The most retries of one request that plugins may ask for.
    package var pluginRetries = 3
    /// The time that a plugin has to end a cancelled call.
    package var cancelGrace = Duration.seconds(1)
    /// The memory limit in bytes for calls whose plugins did not resume in time. Above it, calls are refused.
    package var keptMemoryBytes = Self.defaultKeptMemoryBytes
    /// The time that a circuit breaker stays open before a request tries the plugin again.
    package var breakerCoolDown = Self.defaultBreakerCoolDown
    /// The reaction to plugins that crash the host repeatedly; nil if crashes are not counted.
    package var crashLoop: CrashLoopPolicy?
    /// A PEM file with the certificates to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// The most records of a store in memory.
    package var storeRecords = 10_000
    /// The approximate limit of a store in memory, in bytes.
    package var storeBytes = Self.defaultStoreBytes
    /// The approximate limit of a store in a file, in bytes.
    package var storeFileBytes = Self.defaultStoreFileBytes
    /// The most fields of a root's record.
    package var storeFields = InMemoryNormalizedCache.defaultMaximumFields
    /// Whether queries are sent by GET.
    package var usesGETForQueries = false
    /// The format of subscriptions over HTTP that the upstream is asked for.
    package var subscriptionFormat = WireOptions.SubscriptionFormat.multipart
    /// The information about the client program that is sent to the upstream; nil for none.
    package var clientAwareness: ClientAwareness?
    /// The headers of ``clientAwareness``.
    package var clientHeaders: HTTPHeaders { clientAwareness?.headers ?? [:] }
    /// The code that sends requests to the upstream.
    package var engine = Engine.auto
    /// The user of workers if the host is root.
    package var workerUser = WorkerUser.name("nobody")
    /// The WebSocket for subscriptions; nil if they use HTTP.
    package var webSocket: WebSocket?
  }
}
