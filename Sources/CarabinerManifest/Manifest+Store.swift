package import Carabiner

extension Manifest {
  /// Where the built-in `store` keeps records, and how.
  package struct Store: Sendable, Hashable {
    /// The database that holds the records; nil to keep them in memory.
    package var file: String?
    /// How objects are named and how long values count.
    package var policy = CacheKeyPolicy.default
    /// Whether results that carry errors are kept.
    package var keepsResultsWithErrors = true

    /// In memory, with the default policy.
    package init() {}
  }
}
