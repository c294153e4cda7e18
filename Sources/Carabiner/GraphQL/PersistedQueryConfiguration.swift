/// The settings for persisted queries.
public struct PersistedQueryConfiguration: Sendable, Hashable {
  /// Whether hashes are sent.
  public var isEnabled: Bool
  /// Whether the hash of a query is sent with GET even if queries use POST. The URL is short and can be cached.
  ///
  /// The retry with the document uses POST, unless ``WireOptions/usesGETForQueries`` is true.
  public var usesGETForHashes: Bool
  /// Whether a document is sent if the server does not know its hash.
  ///
  /// If false, documents are never sent, not even those of subscriptions and uploads. Use it for servers that run only the
  /// operations of a list. The hash is then that of the operation's own document, or the identifier of an ``IdentifiedOperation``.
  /// ``WireOptions`` do not complete documents then. An operation that the server does not know fails with
  /// ``AutomaticPersistedQueryError``.
  public var sendsDocuments: Bool

  /// Hashes are sent, and documents never.
  public static let persistedOnly = PersistedQueryConfiguration(isEnabled: true, sendsDocuments: false)

  /// Creates a configuration. By default, hashes are not sent.
  public init(isEnabled: Bool = false, usesGETForHashes: Bool = false, sendsDocuments: Bool = true) {
    self.isEnabled = isEnabled
    self.usesGETForHashes = usesGETForHashes
    self.sendsDocuments = sendsDocuments
  }

  /// Whether hashes are sent, and documents never.
  var isPersistedOnly: Bool { isEnabled && !sendsDocuments }
}
