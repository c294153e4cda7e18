/// Reads from a store that nobody writes to meanwhile; valid inside the closure it is given to.
public struct ReadTransaction: Sendable {
  let store: ApolloStore
  let cache: any NormalizedCache
  let scope: TransactionScope

  /// The stored response of an operation, or nil if something of it is missing or too old.
  ///
  /// - Throws: What the cache throws; ``StoreError``: `transactionEnded`, `malformedRecord`.
  public func read<Operation: GraphQLOperation>(_ operation: Operation) async throws -> GraphQLResponse<Operation>? {
    try scope.checkOpen()
    return try await store.read(operation, from: cache)?.response
  }

  /// The record under a key, or nil if there is none.
  public func record(for key: String) async throws -> Record? {
    try scope.checkOpen()
    return try await cache.records(forKeys: [key]).first ?? nil
  }

  /// The keys of the records that fit a pattern in which `*` stands for any text; all of them for nil.
  public func keys(matching pattern: String? = nil) async throws -> [String] {
    try scope.checkOpen()
    return try await cache.keys(matching: pattern)
  }
}
