public import Carabiner

/// Makes interceptors that decode responses with a decoder, and neither read nor write a store.
open class CodableInterceptorProvider<FlexDecoder: FlexibleDecoder>: InterceptorProvider {
  private let client: URLSessionClient
  private let decoder: FlexDecoder
  /// Invalidates the client once this provider and the interceptors it made are released; nil if the user does.
  private let owner: ClientOwner?

  /// A provider of interceptors over `client` and `decoder`.
  ///
  /// - Parameters:
  ///   - client: Sends the requests.
  ///   - shouldInvalidateClientOnDeinit: Whether the client is invalidated when this provider is released and its requests have ended.
  ///   - decoder: Decodes the responses. Requests are JSON.
  public init(
    client: URLSessionClient = URLSessionClient(), shouldInvalidateClientOnDeinit: Bool = true, decoder: FlexDecoder
  ) {
    self.client = client
    self.decoder = decoder
    owner = shouldInvalidateClientOnDeinit ? ClientOwner(client) : nil
  }

  open func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    [
      MaxRetryInterceptor(),
      NetworkFetchInterceptor(client: client, owner: owner),
      ResponseCodeInterceptor(),
      CodableParsingInterceptor(decoder: decoder),
      AutomaticPersistedQueryInterceptor(),
    ]
  }

  open func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { nil }
}
