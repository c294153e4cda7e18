/// Reads from a store while writes wait. It is valid only inside its closure.
public struct ReadTransaction: Sendable {
  let store: ApolloStore
  let cache: any NormalizedCache
  let scope: TransactionScope

  /// The stored response of an operation; nil if a field is missing or too old.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `transactionEnded` or `malformedRecord`.
  public func read<Operation: GraphQLOperation>(_ operation: Operation) async throws -> GraphQLResponse<Operation>? {
    try scope.checkOpen()
    return try await store.read(operation, from: cache)?.response
  }

  /// The record under a key, or nil if there is none.
  public func record(for key: String) async throws -> Record? {
    try scope.checkOpen()
    return try await cache.records(forKeys: [key]).first ?? nil
  }

  /// The keys that match a pattern, in which `*` matches any text; all keys for nil.
  public func keys(matching pattern: String? = nil) async throws -> [String] {
    try scope.checkOpen()
    return try await cache.keys(matching: pattern)
  }
}
