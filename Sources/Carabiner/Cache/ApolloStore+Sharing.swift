extension ApolloStore {
  /// The cache for the reads of an operation.
  func view(for operation: some GraphQLOperation) -> any NormalizedCache {
    (cache as? any SharedCache)?.view(document: operation.document, variables: operation.variables) ?? cache
  }

  /// Runs a read of a shared cache. Returns nil also if the cache is not available, or if another process has written malformed
  /// records.
  func orMiss<Result>(_ work: () async throws -> Result?) async throws -> Result? {
    do {
      return try await work()
    } catch let error as StoreError where error.code == .unavailable || error.code == .malformedRecord {
      if error.code == .malformedRecord { (cache as? any SharedCache)?.foundMalformedRecord() }
      return nil
    }
  }
}
