package import CarabinerRESP
package import CarabinerWire

extension Manifest {
  /// Servers of Redis or Valkey, and the login.
  package struct RedisServers: Sendable, Hashable {
    /// The maximum number of URLs.
    package static let maximumURLs = 16

    /// The URLs. The first server that can be reached is used.
    package var urls: [RedisURL] = []
    /// The user; may contain references.
    package var user: String?
    /// The password; may contain references.
    package var password: String?
    /// The file with the authorities of the servers' certificates; nil for those of the system.
    package var authorityFile: String?
    /// The files with the certificate of the host and its key; nil for none.
    package var certificateFile: String?
    package var keyFile: String?
    /// Whether the servers are nodes of a cluster.
    package var isCluster = false

    package init() {}
  }

  /// A store in Redis.
  package struct RedisStore: Sendable, Hashable {
    package static let maximumConnections = 8
    package static let maximumReadBudget = Duration.seconds(10)
    package static let defaultReadBudget = Duration.milliseconds(20)
    package static let defaultWriteQueueBytes = 16 << 20
    package static let defaultNearRecords = 10_000
    package static let maximumNearRecords = 10_000_000
    package static let defaultNearMaximumAge = Duration.seconds(5)
    package static let defaultTimeToLive = Duration.seconds(24 * 3600)

    package var servers = RedisServers()
    /// Whether the records are spread over the masters of a cluster.
    package var isSpread = false
    /// The number of connections for commands.
    package var connections = 1
    /// The name of the store; nil for the name of the manifest's file.
    package var prefix: String?
    /// The time that all reads of an operation have together.
    package var readBudget = Self.defaultReadBudget
    /// The most bytes of writes that wait.
    package var writeQueueBytes = Self.defaultWriteQueueBytes
    /// The time for which a record is kept if its type has no maximum age.
    package var timeToLive = Self.defaultTimeToLive
    /// The maximum number of records that are also kept in memory.
    package var nearRecords = Self.defaultNearRecords
    /// The time for which a record in memory is used.
    package var nearMaximumAge = Self.defaultNearMaximumAge

    package init() {}
  }

  /// The place of the settings of a store in Redis.
  package static var redisStorePointer: JSONPointer { JSONPointer(components: ["built-ins", "store", "redis"]) }
  /// The place of the settings of the state that gateways share.
  package static var sharedPointer: JSONPointer { JSONPointer(components: ["serve", "shared"]) }

  /// The prefix of the store in Redis; nil if none is set and the name of the manifest's file cannot be one.
  package var redisPrefix: String? { store.redis?.prefix ?? usualPrefix }

  /// The prefix of the state that gateways share; nil as for ``redisPrefix``.
  package var sharedPrefix: String? { serve.shared?.prefix ?? usualPrefix }

  private var usualPrefix: String? {
    let file = path.split(separator: "/").last.map { String($0) } ?? ""
    let name = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    return StorePrefix.isValid(name) ? name : nil
  }
}
