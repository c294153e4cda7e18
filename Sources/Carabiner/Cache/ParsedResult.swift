/// A response on its way up the chain, with its records for the cache.
public struct ParsedResult<Operation: GraphQLOperation>: Sendable {
  /// The response.
  public var result: GraphQLResponse<Operation>
  /// The records for the cache; nil if there are none or if they are not needed.
  public var cacheRecords: RecordSet?

  /// Creates a result.
  // Inlinable, so that a parser in another module need not look up the metadata of the type.
  @inlinable public init(result: GraphQLResponse<Operation>, cacheRecords: RecordSet? = nil) {
    self.result = result
    self.cacheRecords = cacheRecords
  }
}

/// The results of a request on their way up the chain.
public typealias InterceptorResultStream<Request: GraphQLRequest> = PullStream<ParsedResult<Request.Operation>>
