import Carabiner
import CarabinerCurl
import CarabinerSQLite
import CarabinerWebSocket
import FoundationEssentials

// The listings of Embedding.md, word for word. `EmbeddingGuideTests` compares them with the page.

enum EmbeddingGuide {
  struct BookQuery: GraphQLQuery {
    struct Data: Decodable, Sendable {
      struct Book: Decodable, Sendable {
        let title: String
      }

      let book: Book?
    }

    let id: String

    var operationName: String? { "Book" }
    var document: String { "query Book($id: ID!) { book(id: $id) { title } }" }
    var variables: JSONObject { ["id": .string(id)] }
  }

  struct AuthHeaderInterceptor: GraphQLInterceptor {
    let token: String

    func intercept<Request: GraphQLRequest>(
      request: Request, next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      var request = request
      request.additionalHeaders["Authorization"] = "Bearer \(token)"
      return await next(request)
    }
  }

  struct Provider: InterceptorProvider {
    func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] {
      DefaultInterceptorProvider.shared.graphQLInterceptors(for: operation) + [AuthHeaderInterceptor(token: "secret")]
    }
  }

  // Operations that the page uses but does not show.

  struct CountSubscription: GraphQLSubscription {
    struct Data: Decodable, Sendable { let count: Int }

    var operationName: String? { "Count" }
    var document: String { "subscription Count { count }" }
  }

  struct SavePicture: GraphQLMutation {
    struct Data: Decodable, Sendable { let saved: Bool }

    var operationName: String? { "SavePicture" }
    var document: String { "mutation SavePicture($picture: Upload!) { saved(picture: $picture) }" }
  }

  static func fetch(url: URL) async throws {
    let transport = try CurlTransport()
    let client = ApolloClient(networkTransport: RequestChainNetworkTransport(endpointURL: url, httpTransport: transport))
    let response = try await client.fetch(query: BookQuery(id: "2"), cachePolicy: .cacheFirst)
    for error in response.errors ?? [] { print("error: \(error)") }
    print(try response.data?.book?.title ?? "no such book")
  }

  static func watch(_ client: ApolloClient) async throws {
    for try await response in client.watch(BookQuery(id: "2")) {
      for error in response.errors ?? [] { print("error: \(error)") }
      print(try response.data?.book?.title ?? "no such book")
    }
  }

  static func subscribe(_ client: ApolloClient) async throws {
    for try await response in try client.subscribe(subscription: CountSubscription()) {
      for error in response.errors ?? [] { print("error: \(error)") }
      print(try response.data?.count ?? 0)
    }
  }

  static func subscribe(url: URL, socketURL: URL) async throws {
    let store = ApolloStore()
    let http = RequestChainNetworkTransport(endpointURL: url, httpTransport: try CurlTransport(), store: store)
    let socket = try WebSocketTransport(url: socketURL, store: store)
    let client = ApolloClient(networkTransport: SplitNetworkTransport(subscriptions: socket, others: http), store: store)
    let counting = try client.subscribe(subscription: CountSubscription())
    Task { for await state in counting.states { print(state) } }
    for try await response in counting {
      for error in response.errors ?? [] { print("error: \(error)") }
      print(try response.data?.count ?? 0)
    }
  }

  static func keepInFile(url: URL) async throws -> ApolloClient {
    let store = ApolloStore(
      cache: try SQLiteNormalizedCache(path: "cache.sqlite"), policy: CacheKeyPolicy(keyFields: ["Book": ["isbn"]]))
    let transport = RequestChainNetworkTransport(endpointURL: url, httpTransport: try CurlTransport(), store: store)
    return ApolloClient(networkTransport: transport)
  }

  static func keyedByFunction() -> CacheKeyPolicy {
    let policy = CacheKeyPolicy(
      objectKey: ObjectKeyFunction { object in object["isbn"]?.string.map { "book-\($0)" } })
    return policy
  }

  static func publish(_ records: RecordSet, to store: ApolloStore) async throws -> StoreSubscription {
    let origin = PublishOrigin()
    let subscription = store.subscribe { _, change in
      if PublishOrigin.current != origin { print("changed by another writer: \(change)") }
    }
    try await PublishOrigin.$current.withValue(origin) { try await store.publish(records: records) }
    return subscription
  }

  static func download(_ url: URL, over transport: CurlTransport) async throws {
    var request = URLRequest(url: url, httpMethod: "GET")
    request.decodesContent = false
    let response = try await transport.send(request)
    print(response.response.statusCode)
    for try await chunk in response.chunks { print(chunk.count) }
  }

  static func upload(to url: URL, over transport: CurlTransport) async throws -> HTTPResponse {
    var upload = URLRequest(url: url, timeoutInterval: .infinity)
    upload.body = .stream(PullStream(elements: [Data("one".utf8), Data("two".utf8)]))
    let receipt = try await transport.send(upload)
    return receipt
  }

  static func upload(_ client: ApolloClient) async throws -> Bool? {
    let options = WireOptions(
      usesGETForQueries: true, persistedQueries: .init(isEnabled: true),
      clientAwareness: ClientAwareness(applicationName: "shop", applicationVersion: "2.1"))
    let picture = GraphQLFile(fieldName: "picture", path: "cat.png", mimeType: "image/png")
    let saved = try await client.upload(
      operation: SavePicture(), files: [picture], configuration: RequestConfiguration(wireOptions: options))
    if let error = saved.errors?.first { throw error }
    return try saved.data?.saved
  }
}
