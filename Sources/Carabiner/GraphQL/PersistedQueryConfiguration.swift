/// The settings for persisted queries.
public struct PersistedQueryConfiguration: Sendable, Hashable {
  /// Whether hashes are sent.
  public var isEnabled: Bool
  /// Whether the hash of a query is sent with GET even if queries use POST. The URL is short and can be cached.
  ///
  /// The retry with the document uses POST, unless ``WireOptions/usesGETForQueries`` is true.
  public var usesGETForHashes: Bool

  /// Creates a configuration. By default, hashes are not sent.
  public init(isEnabled: Bool = false, usesGETForHashes: Bool = false) {
    self.isEnabled = isEnabled
    self.usesGETForHashes = usesGETForHashes
  }
}
