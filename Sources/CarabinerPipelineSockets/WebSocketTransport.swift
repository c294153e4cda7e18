public import CarabinerPipeline
public import CarabinerWebSocket
public import CarabinerWire
public import Dispatch
public import FoundationEssentials

public import protocol Carabiner.InterceptorProvider

/// Runs queries, mutations and subscriptions over one WebSocket, with callbacks.
///
/// Results pass interceptors and reach the store, as over HTTP. Files cannot be uploaded. Releasing the transport closes the connection:
/// queries and mutations keep it until they are answered, and subscriptions end without a callback.
public final class WebSocketTransport: NetworkTransport, @unchecked Sendable {
  // Immutable. The transport of the chains only makes requests, and its settings are not changed.

  /// Settings of the connection, which is that of the core.
  public typealias Configuration = CarabinerWebSocket.WebSocketTransport.Configuration
  /// The default of `reconnectionInterval`, in seconds.
  public static let defaultReconnectionInterval = 0.5

  /// The name of the client, which the handshake contains.
  public let clientName: String
  /// The version of the client, which the handshake contains.
  public let clientVersion: String
  private let line: SocketLine
  private let chains: SocketChainTransport

  /// A transport for one endpoint.
  ///
  /// If the URL is not a WebSocket URL, or a header field is malformed, each operation fails with a `WebSocketError`.
  ///
  /// - Parameters:
  ///   - request: The URL of the server, ws or wss, and header fields of the handshake.
  ///   - clientName: The name of the client, for the statistics of the server.
  ///   - clientVersion: The version of the client.
  ///   - sendOperationIdentifiers: Whether the identifier of an `IdentifiedOperation` is sent as `id`.
  ///   - reconnect: Whether a lost connection is opened again.
  ///   - reconnectionInterval: The delay before the first attempt, in seconds. Later delays are longer.
  ///   - allowSendingDuplicates: Ignored. No message is sent twice.
  ///   - connectOnInit: Whether the connection opens now and is kept. Otherwise, it opens with the first operation, and closes when it
  ///     has been idle for a while.
  ///   - connectingPayload: The payload of `connection_init`; nil for none. `connectionPayload` of `configuration` takes precedence.
  ///   - requestBodyCreator: Makes the operations as they are sent.
  ///   - operationMessageIdCreator: Makes the ids of the operations; nil for increasing numbers, or that of `configuration`.
  ///   - webSocketProtocol: The subprotocol. That of `configuration` is ignored.
  ///   - store: The store that is read and written without an `interceptorProvider`; nil for none.
  ///   - interceptorProvider: Makes the interceptors of each operation. Its `NetworkFetchInterceptor` uses the socket.
  ///   - stages: Interceptors of the core, without an `interceptorProvider`. Only its GraphQL interceptors run.
  ///   - configuration: Further settings.
  public init(
    request: URLRequest, clientName: String = WebSocketTransport.defaultClientName,
    clientVersion: String = WebSocketTransport.defaultClientVersion, sendOperationIdentifiers: Bool = false,
    reconnect: Bool = true, reconnectionInterval: TimeInterval = WebSocketTransport.defaultReconnectionInterval,
    allowSendingDuplicates: Bool = true, connectOnInit: Bool = true, connectingPayload: JSONEncodableDictionary? = [:],
    requestBodyCreator: any RequestBodyCreator = ApolloRequestBodyCreator(),
    operationMessageIdCreator: (any OperationMessageIdCreator)? = nil,
    webSocketProtocol: WebSocketProtocol = .graphQLWS, store: ApolloStore? = nil,
    interceptorProvider: (any CarabinerPipeline.InterceptorProvider)? = nil,
    stages: (any Carabiner.InterceptorProvider)? = nil, configuration: Configuration = Configuration()
  ) {
    self.clientName = clientName
    self.clientVersion = clientVersion
    var configuration = configuration
    configuration.webSocketProtocol = webSocketProtocol
    if let operationMessageIdCreator {
      configuration.operationMessageIdCreator = CalledIdCreator(creator: operationMessageIdCreator)
    }
    configuration.reconnection.baseDelay = .init(interval: reconnectionInterval)
    if configuration.connectionPayload == nil, let connectingPayload {
      configuration.connectionPayload = { connectingPayload }
    }
    line = SocketLine(
      request, clientName: clientName, clientVersion: clientVersion, configuration: configuration,
      keepsConnection: connectOnInit)
    chains = SocketChainTransport(
      interceptorProvider: interceptorProvider ?? SocketInterceptorProvider(store: store, stages: stages), line: line,
      endpointURL: request.url, requestBodyCreator: requestBodyCreator, sendsIdentifiers: sendOperationIdentifiers)
    chains.clientName = clientName
    chains.clientVersion = clientVersion
    line.connection.transport = self
    line.socket?.setReconnects(reconnect)
    if connectOnInit { line.socket?.open() }
  }

  // MARK: Operations

  public func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CarabinerPipeline.CachePolicy = .default, contextIdentifier: UUID? = nil,
    context: (any RequestContext)? = nil, callbackQueue: DispatchQueue = Callbacks.defaultQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    chains.send(
      operation: operation, cachePolicy: cachePolicy, contextIdentifier: contextIdentifier, context: context,
      callbackQueue: callbackQueue, completionHandler: completionHandler)
  }

  /// Ends the operation with this id on the connection, without a callback. An unknown id has no effect.
  public func unsubscribe(_ subscriptionId: String) {
    line.socket?.end(id: subscriptionId)
  }

  // MARK: The connection

  /// Gets the changes of the connection, on a queue of the transport. The transport does not keep it.
  public var delegate: (any WebSocketTransportDelegate)? {
    get { line.connection.delegate }
    set { line.connection.delegate = newValue }
  }

  /// Whether the server has acknowledged the connection, and it was not lost since.
  public func isConnected() -> Bool { line.connection.isConnected }

  /// Does nothing: `connection_init` is sent when the connection opens.
  public func initServer() {}

  /// Always false: there is no support for proxies.
  public var enableSOCKSProxy: Bool {
    get { false }
    set {}
  }

  /// Sends a ping on an open connection.
  ///
  /// - Parameters:
  ///   - data: The content, of which at most 125 bytes are sent.
  ///   - completionHandler: Called on a queue of the transport when the ping is written. It is not called without a connection.
  public func ping(data: Data, completionHandler: (() -> Void)? = nil) {
    let connection = line.connection
    let handler = PingHandler(body: completionHandler)
    line.socket?.ping([UInt8](data.prefix(PingHandler.maximumBytes))) { connection.call(handler) }
  }

  /// Closes the connection until ``resumeWebSocketConnection(autoReconnect:)``. Operations wait, without a callback.
  ///
  /// A mutation that was already sent fails, because it may have been executed.
  public func pauseWebSocketConnection() { line.socket?.pause() }

  /// Opens the connection again, or for the first time.
  ///
  /// - Parameter autoReconnect: Whether a lost connection is opened again from now on.
  public func resumeWebSocketConnection(autoReconnect: Bool = true) {
    line.socket?.setReconnects(autoReconnect)
    line.socket?.resume()
    line.socket?.open()
  }

  /// Closes the connection permanently. Operations under way and later ones fail with `WebSocketError.Code.shutDown`.
  public func closeConnection() { line.close() }

  /// Changes header fields of the handshake, and connects again when the old connection is closed.
  ///
  /// If one is malformed, all are logged and ignored.
  ///
  /// - Parameter values: The new values by name; nil to remove a field.
  public func updateHeaderValues(_ values: [String: String?]) { line.change(values) }

  /// Changes the payload of `connection_init`, and connects again when the old connection is closed.
  public func updateConnectingPayload(_ payload: JSONEncodableDictionary) {
    line.socket?.setConnectionPayload { payload }
  }

  /// The interceptors of the core that were not run because they see only HTTP.
  package var skippedStages: [String] { line.skippedStages }
}

extension Duration {
  /// The longest interval in seconds, a year. A `Duration` cannot represent every number of seconds.
  private static let longestInterval: TimeInterval = 365 * 86_400

  fileprivate init(interval: TimeInterval) {
    self = interval.isNaN ? .zero : .seconds(min(max(interval, 0), Self.longestInterval))
  }
}
