public import Carabiner
public import FoundationEssentials
internal import Synchronization

/// Sends operations over HTTP, and asks a delegate about each request.
///
/// The transport keeps its delegate until ``delegate`` is set to nil. A delegate that keeps its transport is a cycle until then.
///
/// Its chain has, from the caller to the network: the GraphQL interceptors of ``stages``, persisted queries, the decision about retries,
/// the cache, the HTTP interceptors of ``stages``, and last the preflight methods of the delegate.
public final class HTTPNetworkTransport: UploadingNetworkTransport, Equatable, @unchecked Sendable {
  // Immutable, but for what is behind a mutex. The session's transport is shared by its requests, as sessions are.

  /// The answer of a delegate to an error.
  public enum ContinueAction: Sendable {
    /// Send the operation again.
    case retry
    /// Fail with this error.
    case fail(_ error: any Error)
  }

  /// The default of ``maximumAttempts``.
  public static let defaultMaximumAttempts = Carabiner.RequestChainNetworkTransport.defaultMaximumAttempts

  private struct State {
    var delegate: Transferred<(any HTTPNetworkTransportDelegate)?>
    var clientName = HTTPNetworkTransport.defaultClientName
    var clientVersion = HTTPNetworkTransport.defaultClientVersion
  }

  /// The URL of the server.
  public let url: URL
  /// The session that sends the requests.
  public let session: URLSession
  /// Whether the identifiers of operations are sent in place of their documents.
  public let sendOperationIdentifiers: Bool
  /// Whether queries are sent with GET.
  public let useGETForQueries: Bool
  /// Whether hashes are sent in place of documents.
  public let enableAutoPersistedQueries: Bool
  /// Whether a query with a hash is sent with GET, also when its document must be sent too.
  public let useGETForPersistedQueryRetry: Bool
  /// Makes the bodies of requests.
  public let requestCreator: any RequestBodyCreator
  /// How often a request may be sent, retries of all kinds included.
  public let maximumAttempts: Int
  /// The maximal length of a response body in bytes.
  public let maximumBodyBytes: Int
  /// Interceptors of the core, for example the plugins of a manifest; nil for none.
  public let stages: (any Carabiner.InterceptorProvider)?
  /// The client that sends in place of the session; nil for none.
  let client: Transferred<URLSessionClient>?
  private let state: Mutex<State>

  /// A transport to one endpoint.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - session: Sends the requests.
  ///   - sendOperationIdentifiers: Whether the body has the identifier of the operation as `id` in place of its document. The identifier is
  ///     that of ``IdentifiedOperation``, or else the SHA-256 of the document.
  ///   - useGETForQueries: Whether queries are sent with GET.
  ///   - enableAutoPersistedQueries: Whether hashes are sent in place of documents.
  ///   - useGETForPersistedQueryRetry: Whether a query with a hash is sent with GET, also when its document must be sent too.
  ///   - delegate: The delegate, which the transport keeps.
  ///   - requestCreator: Makes the bodies of requests.
  ///   - maximumAttempts: How often a request may be sent, retries of the delegate, of plugins and of persisted queries included.
  ///   - maximumBodyBytes: The maximal length of a response body.
  ///   - stages: Interceptors of the core. Their own limits of retries count too.
  public convenience init(
    url: URL, session: URLSession = .shared, sendOperationIdentifiers: Bool = false, useGETForQueries: Bool = false,
    enableAutoPersistedQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false,
    delegate: (any HTTPNetworkTransportDelegate)? = nil, requestCreator: any RequestBodyCreator = ApolloRequestBodyCreator(),
    maximumAttempts: Int = HTTPNetworkTransport.defaultMaximumAttempts,
    maximumBodyBytes: Int = DelegatePreflightInterceptor.defaultMaximumBodyBytes,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.init(
      url, session, nil, sendOperationIdentifiers, useGETForQueries, enableAutoPersistedQueries, useGETForPersistedQueryRetry,
      delegate, requestCreator, maximumAttempts, maximumBodyBytes, stages)
  }

  /// A transport whose requests a client sends. A subclass of ``URLSessionClient`` can replace the network.
  public convenience init(
    url: URL, client: URLSessionClient, sendOperationIdentifiers: Bool = false, useGETForQueries: Bool = false,
    enableAutoPersistedQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false,
    delegate: (any HTTPNetworkTransportDelegate)? = nil, requestCreator: any RequestBodyCreator = ApolloRequestBodyCreator(),
    maximumAttempts: Int = HTTPNetworkTransport.defaultMaximumAttempts,
    maximumBodyBytes: Int = DelegatePreflightInterceptor.defaultMaximumBodyBytes,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.init(
      url, client.session, client, sendOperationIdentifiers, useGETForQueries, enableAutoPersistedQueries,
      useGETForPersistedQueryRetry, delegate, requestCreator, maximumAttempts, maximumBodyBytes, stages)
  }

  /// A transport whose request bodies are made by a creator of the 0.3x generation.
  ///
  /// The creator gets ``sendOperationIdentifiers``. Its form of an upload is sent without changes. In any other body, an identifier is in
  /// place of the document, as in those of other creators.
  public convenience init(
    url: URL, session: URLSession = .shared, sendOperationIdentifiers: Bool = false, useGETForQueries: Bool = false,
    enableAutoPersistedQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false,
    delegate: (any HTTPNetworkTransportDelegate)? = nil, requestCreator: any RequestCreator,
    maximumAttempts: Int = HTTPNetworkTransport.defaultMaximumAttempts,
    maximumBodyBytes: Int = DelegatePreflightInterceptor.defaultMaximumBodyBytes,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.init(
      url, session, nil, sendOperationIdentifiers, useGETForQueries, enableAutoPersistedQueries, useGETForPersistedQueryRetry,
      delegate, RequestCreatorBody(creator: requestCreator, sendsIdentifiers: sendOperationIdentifiers), maximumAttempts,
      maximumBodyBytes, stages)
  }

  /// A transport whose requests a client sends, and whose request bodies are made by a creator of the 0.3x generation.
  public convenience init(
    url: URL, client: URLSessionClient, sendOperationIdentifiers: Bool = false, useGETForQueries: Bool = false,
    enableAutoPersistedQueries: Bool = false, useGETForPersistedQueryRetry: Bool = false,
    delegate: (any HTTPNetworkTransportDelegate)? = nil, requestCreator: any RequestCreator,
    maximumAttempts: Int = HTTPNetworkTransport.defaultMaximumAttempts,
    maximumBodyBytes: Int = DelegatePreflightInterceptor.defaultMaximumBodyBytes,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.init(
      url, client.session, client, sendOperationIdentifiers, useGETForQueries, enableAutoPersistedQueries,
      useGETForPersistedQueryRetry, delegate,
      RequestCreatorBody(creator: requestCreator, sendsIdentifiers: sendOperationIdentifiers), maximumAttempts, maximumBodyBytes,
      stages)
  }

  private init(
    _ url: URL, _ session: URLSession, _ client: URLSessionClient?, _ sendOperationIdentifiers: Bool, _ useGETForQueries: Bool,
    _ enableAutoPersistedQueries: Bool, _ useGETForPersistedQueryRetry: Bool, _ delegate: (any HTTPNetworkTransportDelegate)?,
    _ requestCreator: any RequestBodyCreator, _ maximumAttempts: Int, _ maximumBodyBytes: Int,
    _ stages: (any Carabiner.InterceptorProvider)?
  ) {
    self.url = url
    self.session = session
    self.client = client.map { Transferred($0) }
    self.sendOperationIdentifiers = sendOperationIdentifiers
    self.useGETForQueries = useGETForQueries
    self.enableAutoPersistedQueries = enableAutoPersistedQueries
    self.useGETForPersistedQueryRetry = useGETForPersistedQueryRetry
    self.requestCreator = requestCreator
    self.maximumAttempts = maximumAttempts
    self.maximumBodyBytes = maximumBodyBytes
    self.stages = stages
    state = Mutex(State(delegate: Transferred(delegate)))
  }

  /// The object that decides about each request. It may be changed at any time, and then applies to the following decisions.
  public var delegate: (any HTTPNetworkTransportDelegate)? {
    get { state.withLock { $0.delegate }.value }
    set {
      let new = Transferred(newValue)
      let old = state.withLock { state in
        defer { state.delegate = new }
        return state.delegate
      }
      // Released here, outside the lock, because releasing runs code of the user.
      withExtendedLifetime(old) {}
    }
  }

  /// The name of the client, used from the next request on.
  public var clientName: String {
    get { state.withLock { $0.clientName } }
    set { state.withLock { $0.clientName = newValue } }
  }

  /// The version of the client, used from the next request on.
  public var clientVersion: String {
    get { state.withLock { $0.clientVersion } }
    set { state.withLock { $0.clientVersion = newValue } }
  }

  /// Whether two transports send the same requests over the same session.
  public static func == (left: HTTPNetworkTransport, right: HTTPNetworkTransport) -> Bool {
    left.url == right.url && left.session === right.session && left.sendOperationIdentifiers == right.sendOperationIdentifiers
      && left.useGETForQueries == right.useGETForQueries
  }
}
