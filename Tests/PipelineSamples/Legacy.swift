import CarabinerPipeline
import Foundation

// Code as a program of the 0.3x generation has it.

/// The built-in interceptors of the 0.3x generation, with own ones between them.
public struct NetworkProvider: InterceptorProvider {
  private let store: ApolloStore
  private let client: URLSessionClient
  private let login: Login
  private let journal: Journal

  public init(store: ApolloStore, client: URLSessionClient, login: Login, journal: Journal) {
    self.store = store
    self.client = client
    self.login = login
    self.journal = journal
  }

  public func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [ApolloInterceptor] {
    return [
      MaxRetryInterceptor(),
      LegacyCacheReadInterceptor(store: self.store),
      LoginInterceptor(login: login),
      RequestLogInterceptor(journal: journal),
      NetworkFetchInterceptor(client: self.client),
      ResponseLogInterceptor(journal: journal),
      ResponseCodeInterceptor(),
      LegacyParsingInterceptor(cacheKeyForObject: self.store.cacheKeyForObject),
      AutomaticPersistedQueryInterceptor(),
      LegacyCacheWriteInterceptor(store: self.store),
    ]
  }
}

/// The default list with an interceptor at either end.
open class LoggedProvider: LegacyInterceptorProvider {
  private let journal: Journal

  public init(store: ApolloStore, journal: Journal) {
    self.journal = journal
    super.init(store: store)
  }

  open override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [ApolloInterceptor] {
    var interceptors = super.interceptors(for: operation)
    interceptors.insert(RequestLogInterceptor(journal: journal), at: 0)
    interceptors.append(ResponseLogInterceptor(journal: journal))
    return interceptors
  }

  open override func additionalErrorInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> ApolloErrorInterceptor?
  {
    ErrorLogInterceptor(journal: journal)
  }
}

/// Bodies with a member of the program's own.
public struct TenantCreator: RequestCreator {
  public init() {}

  public func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendOperationIdentifiers: Bool, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONObject {
    var body = ApolloRequestCreator().requestBody(
      for: operation, sendOperationIdentifiers: sendOperationIdentifiers, sendQueryDocument: sendQueryDocument,
      autoPersistQuery: autoPersistQuery)
    body["tenant"] = "north"
    return body
  }
}

/// One client for the whole program.
public class LegacyNetwork {
  public let journal = Journal()
  private let url: URL

  public init(url: URL) { self.url = url }

  public private(set) lazy var apollo: ApolloClient = {
    let cache = InMemoryNormalizedCache()
    let store = ApolloStore(cache: cache)
    let client = URLSessionClient()
    let login = Login(token: Token(value: "first", isExpired: true))
    let provider = NetworkProvider(store: store, client: client, login: login, journal: journal)
    let transport = RequestChainNetworkTransport(
      interceptorProvider: provider, endpointURL: url, additionalHeaders: ["X-App": "sample"], autoPersistQueries: false,
      requestCreator: ApolloRequestCreator(), useGETForQueries: false, useGETForPersistedQueryRetry: false)
    return ApolloClient(networkTransport: transport, store: store)
  }()
}

/// A client of a server that answers with property lists.
public func propertyListClient(url: URL) -> ApolloClient {
  let provider = CodableInterceptorProvider(decoder: PropertyListDecoder())
  let transport = RequestChainNetworkTransport(interceptorProvider: provider, endpointURL: url)
  return ApolloClient(networkTransport: transport)
}

/// Names the objects of a client by one of their fields.
public func nameObjects(of client: ApolloClient) {
  client.cacheKeyForObject = { $0["id"] }
}
