extension Manifest {
  /// State in Redis or Valkey that gateways share in addition to records.
  package struct Shared: Sendable, Hashable {
    package static let defaultSync = Duration.milliseconds(100)
    package static let defaultBudget = Duration.seconds(1)
    package static let budgets = Duration.milliseconds(1)...Duration.seconds(10)
    package static let syncs = Duration.milliseconds(10)...Duration.seconds(10)

    package var servers = RedisServers()
    /// The name of the state; nil for the name of the manifest's file.
    package var prefix: String?
    /// How often the rates of clients are exchanged.
    package var sync = Self.defaultSync
    /// The most time that a mutation with a key waits for the servers.
    package var budget = Self.defaultBudget

    package init() {}
  }

  /// Mutations that run once for each key that a client chooses.
  package struct Idempotency: Sendable, Hashable {
    /// The treatment of a mutation with a key while the shared state is not available.
    package enum Unavailable: String, Sendable, Hashable, CaseIterable {
      case refuse
      /// The mutation runs, and may run twice.
      case run
    }

    package static let defaultHeader = "idempotency-key"
    package static let defaultKeep = Duration.seconds(24 * 3600)
    /// The minimum of ``keep``. It is longer than a lease, so that the key of a running mutation cannot expire.
    package static let minimumKeep = Duration.seconds(300)
    package static let maximumKeep = Duration.seconds(30 * 24 * 3600)
    package static let defaultBodyBytes = 1 << 20
    package static let maximumBodyBytes = 16 << 20

    /// The request header with the key.
    package var header = Self.defaultHeader
    /// How long a key and its answer are kept.
    package var keep = Self.defaultKeep
    /// The largest answer that is kept, in bytes.
    package var bodyBytes = Self.defaultBodyBytes
    package var unavailable = Unavailable.refuse

    package init() {}
  }
}
