/// How persisted queries are used.
public struct PersistedQueryConfiguration: Sendable, Hashable {
  /// Whether hashes are sent at all.
  public var isEnabled: Bool
  /// Whether the hash of a query is sent with GET, even if queries are not: the URL is short and can be cached.
  ///
  /// The retry with the document is sent as queries are: with POST unless ``WireOptions/usesGETForQueries`` says otherwise.
  public var usesGETForHashes: Bool

  /// A configuration; off unless told otherwise.
  public init(isEnabled: Bool = false, usesGETForHashes: Bool = false) {
    self.isEnabled = isEnabled
    self.usesGETForHashes = usesGETForHashes
  }
}
