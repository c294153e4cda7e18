import CarabinerPipeline
import CarabinerPipelineSockets
import Dispatch
import Foundation
import ScriptedServer
import ScriptedSocket
import Synchronization
import TestTools
import Testing

/// A subscription to a counter.
struct Count: GraphQLSubscription {
  struct Data: Codable, Sendable {
    let count: Int
  }

  var operationName: String? = "Count"
  var document: String { "subscription Count { count }" }
}

struct CountQuery: GraphQLQuery {
  typealias Data = Count.Data

  var operationName: String? = "Read"
  var document: String { "query Read { count }" }
}

struct CountMutation: GraphQLMutation {
  typealias Data = Count.Data

  var operationName: String? { "Raise" }
  var document: String { "mutation Raise { count }" }
}

/// The results of one operation, in words.
final class Call: Sendable {
  private let list = Mutex<[String]>([])

  var words: [String] { list.withLock { $0 } }

  func add<Value>(_ result: Result<GraphQLResult<Value>, any Error>) {
    let word =
      switch result {
      case .success(let value): value.data.map { ($0 as? Count.Data).map { "\($0.count)" } ?? "\($0)" } ?? "no data"
      case .failure(let error as WebSocketError): error.mayHaveBeenSent ? "\(error.code) sent" : "\(error.code)"
      case .failure(let error): "\(error)"
      }
    list.withLock { $0.append(word) }
  }

  /// The words, when there are this many.
  func words(_ count: Int) async -> [String] {
    _ = await eventually { self.words.count >= count }
    return words
  }
}

extension NetworkTransport {
  /// Starts an operation.
  func start<Operation: GraphQLOperation>(
    _ operation: Operation, _ policy: CarabinerPipeline.CachePolicy = .fetchIgnoringCacheData, call: Call = Call()
  ) -> (call: Call, cancellable: any Cancellable) {
    let cancellable = send(
      operation: operation, cachePolicy: policy, contextIdentifier: nil, context: nil, callbackQueue: .global()
    ) { call.add($0) }
    return (call, cancellable)
  }
}

extension WebSocketTransport {
  /// A transport to a scripted server, which reconnects quickly.
  static func to(
    _ server: ScriptedServer, reconnect: Bool = true, connectOnInit: Bool = false,
    payload: JSONEncodableDictionary? = [:], store: CarabinerPipeline.ApolloStore? = nil,
    provider: (any CarabinerPipeline.InterceptorProvider)? = nil, headers: [String: String] = [:],
    _ change: (inout Configuration) -> Void = { _ in }
  ) -> WebSocketTransport {
    var configuration = Configuration()
    configuration.reconnection.jitter = { 0 }
    configuration.reconnection.maximumDelay = .milliseconds(20)
    change(&configuration)
    var request = URLRequest(url: server.socketURL)
    for (name, value) in headers { request.headers[name] = value }
    return WebSocketTransport(
      request: request, reconnect: reconnect, reconnectionInterval: 0.005, connectOnInit: connectOnInit,
      connectingPayload: payload, store: store, interceptorProvider: provider, configuration: configuration)
  }
}

/// The words that a server and callbacks note, in order.
final class Journal: Sendable {
  private let list = Mutex<[String]>([])

  func note(_ word: String) { list.withLock { $0.append(word) } }
  var entries: [String] { list.withLock { $0 } }

  /// The words, when there are this many.
  func entries(_ count: Int) async -> [String] {
    _ = await eventually { self.entries.count >= count }
    return entries
  }
}

/// A gate of a server's thread, which a test opens.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }
  func wait() { semaphore.wait() }
}

extension SocketPeer {
  /// The id of the next operation in the older protocol; nil if the client closes before.
  func start() throws -> String? { try id(of: "start") }

  /// A result in the older protocol.
  func data(_ id: String, _ count: Int) throws {
    try send(#"{"id":"\#(id)","type":"data","payload":{"data":{"count":\#(count)}}}"#)
  }

  /// Answers every operation with its number, and ends it.
  func answerAll() throws {
    while let id = try start() {
      try data(id, Int(id) ?? 0)
      try complete(id)
    }
  }

  /// Reads until the client closes.
  func readToEnd() throws { while try message() != nil {} }
}
