import Carabiner
import FoundationEssentials
import Synchronization

/// A transport with the test's responses. It records the requests.
final class RecordingTransport: HTTPTransport {
  private let answer: @Sendable (URLRequest, Int) async throws -> HTTPResponse
  private let sent = Mutex<[URLRequest]>([])

  init(_ answer: @escaping @Sendable (URLRequest, Int) async throws -> HTTPResponse) {
    self.answer = answer
  }

  /// Responds with the same body each time.
  convenience init(json: String, status: Int = 200) {
    self.init { request, _ in .json(json, status: status, to: request) }
  }

  var requests: [URLRequest] { sent.withLock { $0 } }

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    let number = sent.withLock { sent in
      sent.append(request)
      return sent.count
    }
    return try await answer(request, number)
  }
}

extension HTTPResponse {
  static func json(
    _ text: String, status: Int = 200, headers: HTTPHeaders = ["Content-Type": "application/json"], to request: URLRequest
  ) -> HTTPResponse {
    HTTPResponse(
      response: HTTPURLResponse(url: request.url, statusCode: status, headers: headers), chunks: PullStream(Data(text.utf8)))
  }
}

/// The entries that a test's stages write, in order.
final class Journal: Sendable {
  private let words = Mutex<[String]>([])

  func note(_ word: String) { words.withLock { $0.append(word) } }

  var entries: [String] { words.withLock { $0 } }
}

struct HeroQuery: GraphQLQuery {
  struct Data: Decodable, Sendable, Equatable {
    struct Hero: Decodable, Sendable, Equatable {
      let name: String
    }

    let hero: Hero?
  }

  var operationName: String? { "Hero" }
  var document: String { "query Hero { hero { name } }" }
}

let heroJSON = #"{"data":{"hero":{"name":"R2-D2"}}}"#

extension ApolloClient {
  /// A client with a chain of these interceptors.
  static func testing(
    _ transport: any HTTPTransport, provider: any InterceptorProvider = DefaultInterceptorProvider.shared,
    store: ApolloStore = ApolloStore(), maximumAttempts: Int = 10, observer: any ChainObserver = CacheFailureLog()
  ) throws -> ApolloClient {
    guard let url = URL(string: "http://127.0.0.1:1/graphql") else { throw CancellationError() }
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: url, httpTransport: transport, store: store,
        maximumAttempts: maximumAttempts, observer: observer))
  }
}

/// A provider with fixed lists.
struct ListProvider: InterceptorProvider {
  var graphQL: [any GraphQLInterceptor] = []
  var http: [any HTTPInterceptor] = []
  var cache: any CacheInterceptor = DefaultCacheInterceptor()
  var parser: any ResponseParsingInterceptor = JSONResponseParsingInterceptor()

  func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { graphQL }
  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] { http }
  func cacheInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> any CacheInterceptor { cache }
  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor { parser }
}
