extension ApolloClient {
  /// Runs an operation, and returns its result again whenever one of its fields changes in the store.
  ///
  /// If another writer removes a field of the last result, the client sends the operation to the server again.
  ///
  /// - Parameters:
  ///   - operation: A query.
  ///   - cachePolicy: The policy for the first result.
  ///   - refetchesMissing: Whether the operation is sent to the server again when a change leaves a field missing. If false, only
  ///     the store is watched.
  ///   - configuration: The options of the requests.
  public func watch<Operation: GraphQLOperation>(
    _ operation: Operation, cachePolicy: CachePolicy = .default, refetchesMissing: Bool = true,
    configuration: RequestConfiguration = RequestConfiguration()
  ) -> WatchedResults<Operation> {
    let (transport, refetches) = (networkTransport, refetchesMissing && cachePolicy != .cacheOnly)
    return WatchedResults(operation: operation, store: store, refetches: refetches) { policy in
      try transport.send(operation, fetchBehavior: (policy ?? cachePolicy).fetchBehavior, configuration: configuration)
    }
  }
}
