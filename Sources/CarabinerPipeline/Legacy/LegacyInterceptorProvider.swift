public import Carabiner

/// Makes the built-in interceptors under the names of the 0.3x generation. Subclass it to add others.
open class LegacyInterceptorProvider: InterceptorProvider {
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
  ///   - store: The store that is read and written, with its ``ApolloStore/cacheKeyForObject``.
  ///   - stages: Interceptors of the core, as for ``DefaultInterceptorProvider``; nil for none.
  public init(
    client: URLSessionClient = URLSessionClient(), shouldInvalidateClientOnDeinit: Bool = true, store: ApolloStore,
    stages: (any Carabiner.InterceptorProvider)? = nil
  ) {
    self.client = client
    self.store = store
    self.stages = stages
    owner = shouldInvalidateClientOnDeinit ? ClientOwner(client) : nil
  }

  open func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    let network: [any ApolloInterceptor] = [
      NetworkFetchInterceptor(client: client, owner: owner),
      ResponseCodeInterceptor(),
      LegacyParsingInterceptor(),
      AutomaticPersistedQueryInterceptor(),
    ]
    let inner = stages.map { [StagesInterceptor($0, around: network)] } ?? network
    return [MaxRetryInterceptor(), LegacyCacheReadInterceptor(store: store)] + inner
      + [LegacyCacheWriteInterceptor(store: store)]
  }

  open func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { nil }
}
