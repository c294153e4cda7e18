internal import CarabinerPipeline
internal import FoundationEssentials

internal import protocol Carabiner.InterceptorProvider

/// Runs each operation through a chain of its own, whose fetch uses a socket.
final class SocketChainTransport: RequestChainNetworkTransport {
  private let line: SocketLine
  private let sendsIdentifiers: Bool

  init(
    interceptorProvider: any CarabinerPipeline.InterceptorProvider, line: SocketLine, endpointURL: URL,
    requestBodyCreator: any RequestBodyCreator, sendsIdentifiers: Bool
  ) {
    self.line = line
    self.sendsIdentifiers = sendsIdentifiers
    super.init(
      interceptorProvider: interceptorProvider, endpointURL: endpointURL, additionalHeaders: [:], autoPersistQueries: false,
      requestBodyCreator: requestBodyCreator)
  }

  override func constructRequest<Operation: GraphQLOperation>(
    for operation: Operation, cachePolicy: CarabinerPipeline.CachePolicy, contextIdentifier: UUID? = nil,
    context: (any RequestContext)? = nil
  ) -> HTTPRequest<Operation> {
    SocketRequest(
      operation: operation, endpoint: endpointURL, contextIdentifier: contextIdentifier, clientName: clientName,
      clientVersion: clientVersion, cachePolicy: cachePolicy, context: context, requestBodyCreator: requestBodyCreator,
      sendsIdentifier: sendsIdentifiers,
      runner: operation.operationType == .subscription ? SubscriptionLine(line) : line)
  }
}

/// Makes the interceptors of a transport without a provider of its own.
struct SocketInterceptorProvider: CarabinerPipeline.InterceptorProvider {
  let store: ApolloStore?
  let stages: (any Carabiner.InterceptorProvider)?

  func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    let network: [any ApolloInterceptor] = [
      NetworkFetchInterceptor(client: URLSessionClient()), JSONResponseParsingInterceptor(),
    ]
    let inner = stages.map { [StagesInterceptor($0, around: network)] } ?? network
    guard let store else { return inner }
    return [CacheReadInterceptor(store: store)] + inner + [CacheWriteInterceptor(store: store)]
  }
}
