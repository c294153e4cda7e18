package import Carabiner

extension Manifest {
  /// The settings of the built-in `store`.
  package struct Store: Sendable, Hashable {
    /// The database that holds the records; nil to keep them in memory.
    package var file: String?
    /// The servers that hold the records; nil to keep them in memory or in a file.
    package var redis: RedisStore?
    /// The keys of objects and the lifetimes of values.
    package var policy = CacheKeyPolicy.default
    /// Whether the data of results with errors is kept.
    package var keepsResultsWithErrors = true

    /// A store in memory with the default policy.
    package init() {}
  }
}
