extension GraphQLRequest {
  /// The operation as one JSON object: `query`, `variables` and the rest, as the body of a POST has it.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if files travel with the operation: those are no JSON.
  public func operationPayload() throws -> [UInt8] {
    guard !carriesFiles else {
      throw RequestChainError(
        .invalidRequest, "\(operation.displayName) carries files, which only HTTP can send; use a transport over HTTP for uploads"
      )
    }
    var request = JSONRequest(operation: operation, endpoint: graphQLEndpoint, wireOptions: wireOptions)
    request.wireOverrides = wireOverrides
    return request.body()
  }
}
