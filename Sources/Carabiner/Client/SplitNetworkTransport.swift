/// Sends subscriptions over one transport, such as a WebSocket, and all other operations over another, such as HTTP.
///
/// Both transports should use the store of the client.
public struct SplitNetworkTransport: UploadingNetworkTransport {
  private let subscriptions: any NetworkTransport
  private let others: any NetworkTransport

  /// Creates a transport from two others.
  ///
  /// - Parameters:
  ///   - subscriptions: Runs subscriptions.
  ///   - others: Runs queries, mutations and uploads. For uploads it must conform to ``UploadingNetworkTransport``.
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
  /// The transport cannot upload files.
  package static func cannotUpload(_ transport: any NetworkTransport) -> Self {
    Self(
      .invalidRequest,
      "\(type(of: transport)) cannot upload files; use a transport that conforms to UploadingNetworkTransport")
  }
}
