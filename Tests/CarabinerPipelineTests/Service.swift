import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

let heroJSON = #"{"data":{"hero":{"__typename":"Droid","id":"1","name":"R2"}}}"#

/// The default list, with interceptors before and behind it.
final class TestProvider: DefaultInterceptorProvider {
  var first: [any ApolloInterceptor] = []
  var last: [any ApolloInterceptor] = []
  var errors: (any ApolloErrorInterceptor)?

  override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    first + super.interceptors(for: operation) + last
  }

  override func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { errors }
}

/// A client, and the server that it speaks to.
final class Service {
  let server: ScriptedServer
  let store = ApolloStore()
  let provider: TestProvider
  let transport: RequestChainNetworkTransport
  let client: ApolloClient
  let queue = DispatchQueue(label: "test callbacks")

  init(
    path: String = "/graphql", client: URLSessionClient = URLSessionClient(), headers: [String: String] = [:],
    persists: Bool = false, get: Bool = false, getForRetry: Bool = false,
    body: any RequestBodyCreator = ApolloRequestBodyCreator(), namesLibrary: Bool = true,
    _ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in try peer.json(heroJSON) }
  ) throws {
    server = try ScriptedServer(ScriptedServer.answering(answer))
    provider = TestProvider(client: client, store: store)
    transport = RequestChainNetworkTransport(
      interceptorProvider: provider, endpointURL: try #require(URL(string: server.origin + path)), additionalHeaders: headers,
      autoPersistQueries: persists, requestBodyCreator: body, useGETForQueries: get, useGETForPersistedQueryRetry: getForRetry,
      sendEnhancedClientAwareness: namesLibrary)
    self.client = ApolloClient(networkTransport: transport, store: store)
  }

  /// Fetches a query, and returns its first results in words.
  func fetch(_ policy: CachePolicy = .fetchIgnoringCacheData, results count: Int = 1) async -> [String] {
    await words(fetching(policy), count)
  }

  func fetching(_ policy: CachePolicy = .fetchIgnoringCacheData) -> Results<HeroQuery.Data> {
    let results = Results<HeroQuery.Data>()
    client.fetch(query: HeroQuery(), cachePolicy: policy, queue: queue) { results.add($0) }
    return results
  }

  func words(_ results: Results<HeroQuery.Data>, _ count: Int) async -> [String] {
    _ = await eventually { results.all.count >= count }
    return results.all.map { result in
      switch result {
      case .success(let value): "\(value.source) \(value.data?.hero.name ?? "nil")"
      case .failure(let error): "\(error)"
      }
    }
  }

  /// The callbacks that are on their way.
  func settle() async {
    for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
  }
}

extension Peer {
  func json(_ body: String, status: String = "200 OK", headers: String = "") throws {
    try respond(status, headers: "Content-Type: application/json\r\n\(headers)", body: body)
  }

  /// The head of a response in parts, whose body ends with the connection.
  func sendParts(_ type: String = "multipart/mixed;boundary=\"-\";deferSpec=20220824") throws {
    try send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n")
  }

  func sendPart(_ json: String) throws { try send("\r\n---\r\nContent-Type: application/json\r\n\r\n\(json)") }
}

extension ReceivedRequest {
  var json: JSONValue? { try? JSONValue(parsing: body) }
}

/// A query of a hero that an interceptor of a chain under test can see.
struct Upload: GraphQLMutation {
  typealias Data = JSONValue

  var operationName: String? { "Upload" }
  var document: String { "mutation Upload($file: Upload!) { upload(file: $file) }" }
}

/// A subscription to a counter.
struct Count: GraphQLSubscription {
  struct Data: Decodable, Sendable {
    let count: Int
  }

  var operationName: String? { "Count" }
  var document: String { "subscription Count { count }" }
}

/// A mutation that renames the hero.
struct Rename: GraphQLMutation {
  struct Data: Codable, Sendable {
    struct Hero: Codable, Sendable {
      let id: String
      let name: String
    }

    let rename: Hero
  }

  var operationName: String? { "Rename" }
  var document: String { "mutation Rename { rename { __typename id name } }" }
}

/// The servers of a test, which run until it ends.
final class Servers: Sendable {
  private let list = Mutex<[ScriptedServer]>([])

  func start(_ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void) throws -> ScriptedServer {
    let server = try ScriptedServer(ScriptedServer.answering(answer))
    list.withLock { $0.append(server) }
    return server
  }
}
