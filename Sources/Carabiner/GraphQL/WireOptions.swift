/// How operations are put into HTTP requests, where the protocol leaves a choice.
public struct WireOptions: Sendable, Hashable {
  /// Whether queries are sent with GET, so that caches on the way can answer them; mutations, subscriptions and uploads never are.
  public var usesGETForQueries: Bool
  /// Whether and how hashes of documents are sent in their place.
  public var persistedQueries: PersistedQueryConfiguration
  /// What servers are told about the program that asks; nil for nothing.
  public var clientAwareness: ClientAwareness?
  /// Whether documents of typed operations get `__typename` and the key fields that the store needs to recognise objects.
  ///
  /// Turn it off for servers that accept only documents they know. A ``DynamicOperation`` is sent as it is.
  public var completesDocuments: Bool

  /// Options, each with its default: documents by POST, and nothing about the client.
  public init(
    usesGETForQueries: Bool = false, persistedQueries: PersistedQueryConfiguration = .init(),
    clientAwareness: ClientAwareness? = nil, completesDocuments: Bool = true
  ) {
    self.usesGETForQueries = usesGETForQueries
    self.persistedQueries = persistedQueries
    self.clientAwareness = clientAwareness
    self.completesDocuments = completesDocuments
  }
}
