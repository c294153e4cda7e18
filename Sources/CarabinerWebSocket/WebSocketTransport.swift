public import Carabiner
public import Foundation

/// Runs operations of every kind over one WebSocket.
///
/// The connection opens with the first operation and closes when there was none for a while. GraphQL interceptors, cache and
/// retries work as over HTTP; HTTP interceptors and the parser are not passed, and files cannot be sent. All operations share the
/// connection, so a reader that does not keep up with its subscription holds up the others: give a subscription whose reader waits
/// for other operations a transport of its own.
public struct WebSocketTransport: NetworkTransport {
  /// What the cache stage reads and writes.
  public let store: ApolloStore
  private let chain: RequestChainNetworkTransport
  private let socket: SocketHandle
  private let clientHeaders: HTTPHeaders

  /// A transport to one endpoint.
  ///
  /// - Parameters:
  ///   - url: Where the server is; ws or wss.
  ///   - additionalHeaders: Headers of the handshake. Those of single requests have no place to go.
  ///   - wireOptions: How operations are written; what servers are told about the client goes into the handshake.
  /// - Throws: ``WebSocketError`` if the URL is none of a WebSocket, or if a header is malformed.
  public init(
    url: URL, interceptorProvider: any InterceptorProvider = DefaultInterceptorProvider.shared,
    store: ApolloStore = ApolloStore(), additionalHeaders: HTTPHeaders = [:], wireOptions: WireOptions = WireOptions(),
    configuration: Configuration = Configuration(),
    maximumAttempts: Int = RequestChainNetworkTransport.defaultMaximumAttempts, observer: any ChainObserver = CacheFailureLog()
  ) throws {
    clientHeaders = wireOptions.clientAwareness?.headers ?? [:]
    var headers = clientHeaders
    headers.replace(with: additionalHeaders)
    let opening = try SocketOpening(endpoint: WebSocketEndpoint(url), headers: headers, configuration: configuration)
    socket = SocketHandle(SocketDriver(opening))
    self.store = store
    chain = RequestChainNetworkTransport(
      interceptorProvider: interceptorProvider, endpointURL: url, resultTransport: socket, store: store,
      wireOptions: wireOptions, maximumAttempts: maximumAttempts, observer: observer)
  }

  public func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    try chain.send(operation, fetchBehavior: fetchBehavior, configuration: configuration)
  }

  /// Closes the connection until ``resume()``, as an app does that goes to the background.
  ///
  /// Operations wait: subscriptions and queries are sent again, a mutation that was sent and a query that has a result fail.
  public func pause() { socket.driver.pause() }

  /// Opens the connection again, if operations wait for one.
  public func resume() { socket.driver.resume() }

  /// Changes the headers of the handshake, and opens the connection again with them.
  ///
  /// - Parameter headers: All additional headers; those there were go.
  /// - Throws: ``WebSocketError`` if a header is malformed; nothing has changed then.
  public func setAdditionalHeaders(_ headers: HTTPHeaders) throws {
    var all = clientHeaders
    all.replace(with: headers)
    try socket.driver.opening.setHeaders(all)
    socket.driver.reconnect()
  }

  /// Changes the payload of `connection_init`, and opens the connection again with it.
  public func setConnectionPayload(_ payload: ConnectionPayload?) {
    socket.driver.opening.setConnectionPayload(payload)
    socket.driver.reconnect()
  }

  /// Ends all operations, tells the server, and closes the connection for good.
  ///
  /// A transport that nobody holds any more does so by itself; this waits until it is done, at most a second.
  public func shutDown() async { await socket.driver.shutDown() }
}

/// Closes the connection when neither a transport nor a stream needs it any more.
final class SocketHandle: ResultTransport {
  let driver: SocketDriver

  init(_ driver: SocketDriver) { self.driver = driver }

  deinit { driver.beginShutDown() }

  func results<Request: GraphQLRequest>(
    for request: Request
  ) async throws -> PullStream<GraphQLResponse<Request.Operation>> {
    let results = try driver.start(request)
    return PullStream { try await results.next() }
  }
}
