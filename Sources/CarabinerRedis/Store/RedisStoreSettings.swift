package import Carabiner

/// The settings of a store in Redis.
package struct RedisStoreSettings: Sendable {
  /// The connections.
  package var connection: RedisSettings
  /// The name of the store: letters, digits and hyphens. Nodes with the same servers and prefix share their records.
  package var prefix: String
  /// Whether the keys are spread over the masters of a cluster. There are no transactions then.
  package var isSpread = false
  /// Whether nothing at all is written, not even the version of the store.
  package var isReadOnly = false
  /// The maximum ages of values, which are also the lives of keys.
  package var policy = CacheKeyPolicy.default
  /// The time that all rounds of an operation have together.
  package var readBudget = Duration.milliseconds(20)
  /// The maximum size of the writes that wait, in bytes.
  package var writeQueueBytes = 16 << 20
  /// The life of keys whose type has no maximum age.
  package var timeToLive = Duration.seconds(24 * 3600)
  /// The most records that are kept in memory, too; 0 for none.
  package var nearRecords = 10_000
  /// How long a record in memory is used.
  package var nearMaximumAge = Duration.seconds(5)
  /// The time that a write waits for its turn and its answer. It is dropped afterwards.
  package var writeTime = Duration.seconds(2)
  /// The time for a removal, which is waited for.
  package var removalTime = Duration.seconds(5)
  /// How long nothing is written after Redis had no memory left.
  package var pauseTime = Duration.seconds(10)
  /// The local clock, in milliseconds since 1970.
  package var clock: @Sendable () -> Int64 = { StoreClock.now }

  /// Creates settings with the default limits.
  package init(_ connection: RedisSettings, prefix: String) { (self.connection, self.prefix) = (connection, prefix) }
}
