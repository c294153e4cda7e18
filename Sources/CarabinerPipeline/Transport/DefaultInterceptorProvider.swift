public import Carabiner

/// Makes the built-in interceptors. Subclass it to add others.
open class DefaultInterceptorProvider: InterceptorProvider {
  private let client: URLSessionClient
  private let store: ApolloStore
  private let stages: (any Carabiner.InterceptorProvider)?
  /// Invalidates the client once this provider and the interceptors it made are released; nil if the user does.
  private let owner: ClientOwner?

  /// A provider of interceptors over `client` and `store`.
  ///
  /// - Parameters:
  ///   - client: Sends the requests.
  ///   - shouldInvalidateClientOnDeinit: Whether the client is invalidated when this provider is released and its requests have ended.
  ///   - store: The store that is read and written.
  ///   - stages: Interceptors of the core, for example the plugins of a manifest; nil for none. Only its GraphQL and HTTP interceptors are
  ///     used. They run after the cache read and before the cache write.
  public init(
    client: URLSessionClient = URLSessionClient(), shouldInvalidateClientOnDeinit: Bool = true, store: ApolloStore,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.client = client
    self.stages = stages
    self.store = store
    owner = shouldInvalidateClientOnDeinit ? ClientOwner(client) : nil
  }

  open func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    let network: [any ApolloInterceptor] = [
      NetworkFetchInterceptor(client: client, owner: owner),
      ResponseCodeInterceptor(),
      MultipartResponseParsingInterceptor(),
      JSONResponseParsingInterceptor(),
      AutomaticPersistedQueryInterceptor(),
    ]
    let inner = stages.map { [StagesInterceptor($0, around: network)] } ?? network
    return [MaxRetryInterceptor(), CacheReadInterceptor(store: store)] + inner + [CacheWriteInterceptor(store: store)]
  }

  open func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { nil }
}
