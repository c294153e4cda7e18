/// How operations are put into HTTP requests, where the protocol leaves a choice.
public struct WireOptions: Sendable, Hashable {
  /// Whether queries are sent with GET, so that caches on the way can answer them; mutations, subscriptions and uploads never are.
  public var usesGETForQueries: Bool
  /// Whether and how hashes of documents are sent in their place.
  public var persistedQueries: AutomaticPersistedQueryInterceptor.Configuration
  /// What servers are told about the program that asks; nil for nothing.
  public var clientAwareness: ClientAwareness?

  /// Options, each with its default: documents by POST, and nothing about the client.
  public init(
    usesGETForQueries: Bool = false, persistedQueries: AutomaticPersistedQueryInterceptor.Configuration = .init(),
    clientAwareness: ClientAwareness? = nil
  ) {
    self.usesGETForQueries = usesGETForQueries
    self.persistedQueries = persistedQueries
    self.clientAwareness = clientAwareness
  }
}
