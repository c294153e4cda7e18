package import CarabinerWire

/// A cache that other processes use too.
package protocol SharedCache: NormalizedCache {
  /// The cache for all reads of one operation.
  ///
  /// They have one budget of time together, and the cache may prepare what the same operation read before.
  func view(document: String, variables: JSONObject) -> any NormalizedCache

  /// Adds a function that receives the changes of other processes.
  func observeChanges(_ observer: @escaping @Sendable (StoreChange) -> Void)

  /// Called when a field of a record should be a reference and is not.
  func foundMalformedRecord()
}
