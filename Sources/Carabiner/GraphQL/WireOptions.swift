/// The format of operations in HTTP requests.
public struct WireOptions: Sendable, Hashable {
  /// Whether queries are sent with GET, so that HTTP caches can answer them. Mutations, subscriptions and uploads always use POST.
  public var usesGETForQueries: Bool
  /// Whether and how hashes are sent instead of documents.
  public var persistedQueries: PersistedQueryConfiguration
  /// The name and version of the client for the server; nil to send none.
  public var clientAwareness: ClientAwareness?
  /// Whether `__typename` and the key fields of the store are added to the documents of typed operations.
  ///
  /// The store needs them to recognise objects. Turn this off for servers that accept only registered documents; it has no effect if
  /// ``PersistedQueryConfiguration/sendsDocuments`` is false. A
  /// ``DynamicOperation`` is sent unchanged.
  public var completesDocuments: Bool
  /// The format of subscriptions over HTTP that the server is asked for.
  public var subscriptionFormat: SubscriptionFormat

  /// A format of the results of a subscription.
  public enum SubscriptionFormat: String, Sendable, Hashable, CaseIterable {
    /// Parts of a multipart response, with the parameter `subscriptionSpec=1.0`.
    case multipart
    /// Events of an event stream, by the distinct connections mode of GraphQL over SSE.
    case events
  }

  /// Creates options. The defaults are POST with documents, without name and version of the client.
  public init(
    usesGETForQueries: Bool = false, persistedQueries: PersistedQueryConfiguration = .init(),
    clientAwareness: ClientAwareness? = nil, completesDocuments: Bool = true,
    subscriptionFormat: SubscriptionFormat = .multipart
  ) {
    self.usesGETForQueries = usesGETForQueries
    self.persistedQueries = persistedQueries
    self.clientAwareness = clientAwareness
    self.completesDocuments = completesDocuments
    self.subscriptionFormat = subscriptionFormat
  }
}
