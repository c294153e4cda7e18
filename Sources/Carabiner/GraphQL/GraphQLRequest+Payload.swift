extension GraphQLRequest {
  /// The operation as a JSON object with `query`, `variables` and the other members, as in the body of a POST.
  ///
  /// Without a document, `query` is empty, because the protocols over WebSocket require it.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if the request has files, which cannot be part of the JSON.
  public func operationPayload() throws -> [UInt8] {
    guard !carriesFiles else {
      throw RequestChainError(
        .invalidRequest, "\(operation.displayName) carries files, which only HTTP can send; use a transport over HTTP for uploads"
      )
    }
    var request = JSONRequest(operation: operation, endpoint: graphQLEndpoint, wireOptions: wireOptions)
    request.wireOverrides = wireOverrides
    if wireOverrides.document == .omitted { request.wireOverrides.document = .replaced("") }
    return request.body()
  }
}
