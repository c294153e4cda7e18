/// Sends subscriptions one way and all other operations another, as over a WebSocket and over HTTP.
///
/// Both ways should have the same store, which is then also the client's.
public struct SplitNetworkTransport: UploadingNetworkTransport {
  private let subscriptions: any NetworkTransport
  private let others: any NetworkTransport

  /// A transport of two.
  ///
  /// - Parameters:
  ///   - subscriptions: What runs subscriptions.
  ///   - others: What runs queries, mutations and uploads; for uploads it must conform to ``UploadingNetworkTransport``.
  public init(subscriptions: any NetworkTransport, others: any NetworkTransport) {
    self.subscriptions = subscriptions
    self.others = others
  }

  public func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let transport = operation.operationType == .subscription ? subscriptions : others
    return try transport.send(operation, fetchBehavior: fetchBehavior, configuration: configuration)
  }

  public func upload<Operation: GraphQLOperation>(
    _ operation: Operation, files: [GraphQLFile], configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    guard let transport = others as? any UploadingNetworkTransport else { throw RequestChainError.cannotUpload(others) }
    return try transport.upload(operation, files: files, configuration: configuration)
  }
}

extension RequestChainError {
  /// A transport was asked to send files and has no way to.
  package static func cannotUpload(_ transport: any NetworkTransport) -> Self {
    Self(
      .invalidRequest,
      "\(type(of: transport)) cannot upload files; use a transport that conforms to UploadingNetworkTransport")
  }
}
