import Carabiner
import CarabinerPipeline

/// A list with the interceptors of the core around its network part.
public final class StagedProvider: CarabinerPipeline.InterceptorProvider {
  private let store: CarabinerPipeline.ApolloStore
  private let stages: Carabiner.InterceptorProvider
  private let client = URLSessionClient()

  public init(store: CarabinerPipeline.ApolloStore, stages: Carabiner.InterceptorProvider) {
    self.store = store
    self.stages = stages
  }

  public func interceptors<Operation: CarabinerPipeline.GraphQLOperation>(for operation: Operation) -> [ApolloInterceptor] {
    let network: [ApolloInterceptor] = [
      NetworkFetchInterceptor(client: client), ResponseCodeInterceptor(), CarabinerPipeline.JSONResponseParsingInterceptor(),
    ]
    return
      [CacheReadInterceptor(store: store), StagesInterceptor(stages, around: network), CacheWriteInterceptor(store: store)]
  }
}

/// A stage of the core that renews a login.
public func loginStage(_ login: Login) -> GraphQLInterceptor {
  let stage = WrappedInterceptor(LoginInterceptor(login: login), at: .beforeNetwork)
  return stage
}

/// The hero, awaited.
public func heroName(_ client: CarabinerPipeline.ApolloClient) async throws -> String? {
  let result = try await client.fetch(query: HeroQuery())
  if let error = result.errors?.first { throw error }
  let hero = result.data?.hero
  return hero?.name
}
