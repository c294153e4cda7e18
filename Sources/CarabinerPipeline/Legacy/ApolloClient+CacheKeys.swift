extension ApolloClient {
  /// Gives objects their keys in the store; nil for the key fields of the store.
  ///
  /// It may be set at any time, and applies to results that are written later. It is called on any thread, also on several at once.
  public var cacheKeyForObject: CacheKeyForObject? {
    get { store.cacheKeyForObject }
    set { store.cacheKeyForObject = newValue }
  }
}
