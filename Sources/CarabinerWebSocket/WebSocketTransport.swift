public import Carabiner
public import Foundation

/// Runs queries, mutations and subscriptions over one WebSocket.
///
/// The connection opens with the first operation and closes when it has been idle for a while. GraphQL interceptors, cache and retries
/// work as over HTTP. HTTP interceptors and the parser are not used, and files cannot be uploaded.
///
/// All operations share the connection, so a slow reader of a subscription delays the others. If the reader of a subscription waits for
/// other operations, use a separate transport for it.
public struct WebSocketTransport: NetworkTransport {
  /// The store that the cache stage reads and writes.
  public let store: ApolloStore
  private let chain: RequestChainNetworkTransport
  private let socket: SocketHandle
  /// The connections with the headers of requests; nil if all operations share one connection.
  private let identities: IdentitySockets?
  private let clientHeaders: HTTPHeaders
  private let reports: DelegateReports

  /// Creates a transport for one endpoint.
  ///
  /// - Parameters:
  ///   - url: The URL of the server, ws or wss.
  ///   - additionalHeaders: The headers of the handshake. Headers of single requests are not sent.
  ///   - wireOptions: The format of operations. The name and version of the client are sent in the handshake.
  /// - Throws: ``WebSocketError`` if the URL is not a WebSocket URL, or if a header is malformed.
  public init(
    url: URL, interceptorProvider: any InterceptorProvider = DefaultInterceptorProvider.shared,
    store: ApolloStore = ApolloStore(), additionalHeaders: HTTPHeaders = [:], wireOptions: WireOptions = WireOptions(),
    configuration: Configuration = Configuration(),
    maximumAttempts: Int = RequestChainNetworkTransport.defaultMaximumAttempts, observer: any ChainObserver = CacheFailureLog()
  ) throws {
    let clientHeaders = wireOptions.clientAwareness?.headers ?? [:]
    var headers = clientHeaders
    headers.replace(with: additionalHeaders)
    let opening = try SocketOpening(endpoint: WebSocketEndpoint(url), headers: headers, configuration: configuration)
    let reports = DelegateReports()
    let socket = SocketHandle(SocketDriver(opening) { reports.take($0) })
    let identities = configuration.identities.map { IdentitySockets($0, like: opening, clientHeaders: clientHeaders) }
    let transport: @Sendable (SocketHandle) -> WebSocketTransport = { socket in
      let sender: any ResultTransport = if let identities { identities } else { socket }
      return WebSocketTransport(
        chain: RequestChainNetworkTransport(
          interceptorProvider: interceptorProvider, endpointURL: url, resultTransport: sender, store: store,
          additionalHeaders: identities == nil ? [:] : additionalHeaders, wireOptions: wireOptions,
          maximumAttempts: maximumAttempts, observer: observer),
        socket: socket, identities: identities, clientHeaders: clientHeaders, reports: reports)
    }
    self = transport(socket)
    // Delegates get a copy. One that is kept here would keep the connection open.
    reports.setTransport { [weak socket] in socket.map(transport) }
  }

  private init(
    chain: RequestChainNetworkTransport, socket: SocketHandle, identities: IdentitySockets?, clientHeaders: HTTPHeaders,
    reports: DelegateReports
  ) {
    store = chain.store
    self.chain = chain
    self.socket = socket
    self.identities = identities
    self.clientHeaders = clientHeaders
    self.reports = reports
  }

  /// Gets the changes of the connection, on a queue of the transport. The transport does not keep it.
  public var delegate: (any WebSocketTransportDelegate)? {
    get { reports.delegate }
    nonmutating set { reports.delegate = newValue }
  }

  public func send<Operation: GraphQLOperation>(
    _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    try chain.send(operation, fetchBehavior: fetchBehavior, configuration: configuration)
  }

  /// Closes the connection until ``resume()``, for example while an app is in the background.
  ///
  /// Operations wait and are sent again. A mutation that was already sent fails, and a query that already has a result fails too.
  public func pause() { socket.driver.pause() }

  /// Opens the connection again if operations wait for it.
  public func resume() { socket.driver.resume() }

  /// Changes the headers of the handshake, and reconnects with them.
  ///
  /// - Parameter headers: All additional headers. They replace the previous ones.
  /// - Throws: ``WebSocketError`` if a header is malformed. The previous headers are then kept.
  public func setAdditionalHeaders(_ headers: HTTPHeaders) throws {
    var all = clientHeaders
    all.replace(with: headers)
    try socket.driver.opening.setHeaders(all)
    socket.driver.reconnect()
  }

  /// Changes the payload of `connection_init`, and reconnects with it.
  public func setConnectionPayload(_ payload: ConnectionPayload?) {
    socket.driver.opening.setConnectionPayload(payload)
    socket.driver.reconnect()
  }

  /// Ends all operations and closes the connection permanently.
  ///
  /// Releasing the transport has the same effect. This method also waits until the connection is closed, at most one second.
  public func shutDown() async {
    await socket.driver.shutDown()
    await identities?.shutDown()
  }
}

/// Closes the connection when no transport and no stream refers to it.
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
