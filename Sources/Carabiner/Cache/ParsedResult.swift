/// A response on its way up the chain, with the records the cache would keep of it.
public struct ParsedResult<Operation: GraphQLOperation>: Sendable {
  /// The response.
  public var result: GraphQLResponse<Operation>
  /// What the cache would keep; nil if there is nothing to keep or nobody asked.
  public var cacheRecords: RecordSet?

  /// A result made of these parts.
  public init(result: GraphQLResponse<Operation>, cacheRecords: RecordSet? = nil) {
    self.result = result
    self.cacheRecords = cacheRecords
  }
}

/// The results of a request on their way up the chain.
public typealias InterceptorResultStream<Request: GraphQLRequest> = PullStream<ParsedResult<Request.Operation>>
