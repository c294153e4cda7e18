import CarabinerPipeline
import Foundation

/// A whole list of interceptors: the built-in ones, with own ones between them.
public struct LoggingProvider: InterceptorProvider {
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
      CacheReadInterceptor(store: self.store),
      LoginInterceptor(login: login),
      RequestLogInterceptor(journal: journal),
      NetworkFetchInterceptor(client: self.client),
      ResponseLogInterceptor(journal: journal),
      ResponseCodeInterceptor(),
      JSONResponseParsingInterceptor(cacheKeyForObject: self.store.cacheKeyForObject),
      AutomaticPersistedQueryInterceptor(),
      CacheWriteInterceptor(store: self.store),
    ]
  }

  public func additionalErrorInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> ApolloErrorInterceptor? {
    ErrorLogInterceptor(journal: journal)
  }
}

/// The default list with one interceptor before it.
open class LoginProvider: DefaultInterceptorProvider {
  private let login: Login

  public init(store: ApolloStore, login: Login) {
    self.login = login
    super.init(store: store)
  }

  open override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [ApolloInterceptor] {
    [LoginInterceptor(login: login)] + super.interceptors(for: operation)
  }
}

/// One client for the whole program.
public class Network {
  public let journal = Journal()
  private let url: URL

  public init(url: URL) { self.url = url }

  public private(set) lazy var apollo: ApolloClient = {
    let cache = InMemoryNormalizedCache()
    let store = ApolloStore(cache: cache)
    let client = URLSessionClient(sessionConfiguration: URLSessionConfiguration.default)
    let login = Login(token: Token(value: "first", isExpired: true))
    let provider = LoggingProvider(store: store, client: client, login: login, journal: journal)
    let transport = RequestChainNetworkTransport(
      interceptorProvider: provider, endpointURL: url, additionalHeaders: ["X-App": "sample"], autoPersistQueries: false,
      requestBodyCreator: ApolloRequestBodyCreator(), useGETForQueries: false, useGETForPersistedQueryRetry: false)
    return ApolloClient(networkTransport: transport, store: store)
  }()
}

/// A client that answers without a network.
open class CannedClient: URLSessionClient {
  private let answer: Result<(Data, HTTPURLResponse), Error>

  public init(answer: Result<(Data, HTTPURLResponse), Error>) {
    self.answer = answer
    super.init(sessionConfiguration: .default)
  }

  open override func sendRequest(
    _ request: URLRequest, taskDescription: String? = nil, rawTaskCompletionHandler: RawCompletion? = nil,
    completion: @escaping Completion
  ) -> URLSessionTask {
    completion(answer)
    return URLSessionTask()
  }
}
