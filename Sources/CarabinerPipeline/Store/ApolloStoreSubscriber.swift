public import FoundationEssentials

/// Gets the changes of a store. The store does not keep it.
public protocol ApolloStoreSubscriber: AnyObject {
  /// Fields of the store changed.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - changedKeys: The fields, as `record.field`.
  ///   - contextIdentifier: The identifier of the request that wrote them; nil if it has none.
  func store(_ store: ApolloStore, didChangeKeys changedKeys: Set<CacheKey>, contextIdentifier: UUID?)
}
