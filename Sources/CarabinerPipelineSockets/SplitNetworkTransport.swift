public import CarabinerPipeline
public import Dispatch
public import FoundationEssentials

/// Sends subscriptions over one transport, and all other operations over another.
///
/// Both transports should use the store of the client.
public final class SplitNetworkTransport: UploadingNetworkTransport {
  private let uploadingNetworkTransport: any UploadingNetworkTransport
  private let webSocketNetworkTransport: any NetworkTransport

  /// A transport over two others.
  ///
  /// - Parameters:
  ///   - uploadingNetworkTransport: Runs queries, mutations and uploads.
  ///   - webSocketNetworkTransport: Runs subscriptions.
  public init(
    uploadingNetworkTransport: any UploadingNetworkTransport, webSocketNetworkTransport: any NetworkTransport
  ) {
    self.uploadingNetworkTransport = uploadingNetworkTransport
    self.webSocketNetworkTransport = webSocketNetworkTransport
  }

  /// The name of both transports, or a text with the two names.
  public var clientName: String {
    let (http, webSocket) = (uploadingNetworkTransport.clientName, webSocketNetworkTransport.clientName)
    return http == webSocket ? http : "SPLIT_HTTPNAME_\(http)_WEBSOCKETNAME_\(webSocket)"
  }

  /// The version of both transports, or a text with the two versions.
  public var clientVersion: String {
    let (http, webSocket) = (uploadingNetworkTransport.clientVersion, webSocketNetworkTransport.clientVersion)
    return http == webSocket ? http : "SPLIT_HTTPVERSION_\(http)_WEBSOCKETVERSION_\(webSocket)"
  }

  public func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy = .default, contextIdentifier: UUID? = nil,
    context: (any RequestContext)? = nil, callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    let transport = operation.operationType == .subscription ? webSocketNetworkTransport : uploadingNetworkTransport
    return transport.send(
      operation: operation, cachePolicy: cachePolicy, contextIdentifier: contextIdentifier, context: context,
      callbackQueue: callbackQueue, completionHandler: completionHandler)
  }

  public func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)? = nil,
    callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    uploadingNetworkTransport.upload(
      operation: operation, files: files, context: context, callbackQueue: callbackQueue, completionHandler: completionHandler)
  }
}
