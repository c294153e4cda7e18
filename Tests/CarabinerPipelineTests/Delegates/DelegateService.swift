import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// A delegate made of functions that notes its calls.
class Recorder: HTTPNetworkTransportPreflightDelegate, HTTPNetworkTransportTaskCompletedDelegate,
  HTTPNetworkTransportRetryDelegate, @unchecked Sendable
{
  // The functions are set before the first request.
  let log = Log()
  var shouldSend: (URLRequest) -> Bool = { _ in true }
  var willSend: (inout URLRequest) -> Void = { _ in }
  var completed: (URLRequest, Data?, URLResponse?, (any Error)?) -> Void = { _, _, _, _ in }
  var retry: (any Error, URLRequest, URLResponse?, @escaping (Bool) -> Void) -> Void = { _, _, _, answer in answer(false) }

  func networkTransport(_ networkTransport: HTTPNetworkTransport, shouldSend request: URLRequest) -> Bool {
    log.note("shouldSend")
    return shouldSend(request)
  }

  func networkTransport(_ networkTransport: HTTPNetworkTransport, willSend request: inout URLRequest) {
    log.note("willSend")
    willSend(&request)
  }

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, didCompleteRawTaskForRequest request: URLRequest, withData data: Data?,
    response: URLResponse?, error: (any Error)?
  ) {
    log.note("raw \(response.map { "\($0.statusCode)" } ?? "no head") \(data.map { "\($0.count)" } ?? "no body")")
    completed(request, data, response, error)
  }

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    retryHandler: @escaping (Bool) -> Void
  ) {
    log.note("retry?")
    retry(error, request, response, retryHandler)
  }
}

/// The same for GraphQL errors too.
final class ErrorRecorder: Recorder, HTTPNetworkTransportGraphQLErrorDelegate, @unchecked Sendable {
  var again: ([GraphQLError]) -> Bool = { _ in false }

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedGraphQLErrors errors: [GraphQLError],
    retryHandler: @escaping (Bool) -> Void
  ) {
    log.note("errors?")
    retryHandler(again(errors))
  }
}

/// A number that several threads count.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// Counts, and returns the new number.
  @discardableResult func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  var value: Int { count.load(ordering: .relaxed) }
}

/// A client over a transport with a delegate, and the server that it speaks to.
final class DelegateService {
  let server: ScriptedServer
  let recorder: Recorder
  let transport: HTTPNetworkTransport
  let client: ApolloClient
  let queue = DispatchQueue(label: "test callbacks")

  init(
    _ recorder: Recorder = Recorder(), path: String = "/graphql", isOpen: Bool = true, store: Store1 = Store1(),
    answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in try peer.json(heroJSON) },
    make: (URL, Recorder) -> HTTPNetworkTransport = { HTTPNetworkTransport(url: $0, delegate: $1) }
  ) throws {
    server = try ScriptedServer(isOpen: isOpen, ScriptedServer.answering(answer))
    self.recorder = recorder
    transport = make(try #require(URL(string: server.origin + path)), recorder)
    client = ApolloClient(networkTransport: transport, store: store)
  }

  /// A service whose server gives each of these answers once, and then the hero.
  convenience init(
    _ recorder: Recorder = Recorder(), answers: [(status: String, body: String)],
    make: (URL, Recorder) -> HTTPNetworkTransport = { HTTPNetworkTransport(url: $0, delegate: $1) }
  ) throws {
    let counter = Counter()
    try self.init(
      recorder,
      answer: { _, peer in
        let number = counter.next()
        guard number <= answers.count else { return try peer.json(heroJSON) }
        try peer.json(answers[number - 1].body, status: answers[number - 1].status)
      }, make: make)
  }

  func fetching(_ policy: Policy1 = .fetchIgnoringCacheData) -> Results<HeroQuery.Data> {
    let results = Results<HeroQuery.Data>()
    let log = recorder.log
    client.fetch(query: HeroQuery(), cachePolicy: policy, queue: queue) { result in
      log.note("result")
      results.add(result)
    }
    return results
  }

  /// Fetches a query, and returns its first results in words.
  func fetch(_ policy: Policy1 = .fetchIgnoringCacheData, results count: Int = 1) async -> [String] {
    let results = fetching(policy)
    _ = await eventually { results.all.count >= count }
    return results.outcomes
  }

  /// Waits for callbacks that are on their way.
  func settle() async {
    for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
  }
}

extension Results<HeroQuery.Data> {
  /// Each result in words: the source and the name, or the error.
  var outcomes: [String] {
    all.map { result in
      switch result {
      case .success(let value): "\(value.source) \(value.data?.hero.name ?? "nil")"
      case .failure(let error): "\(error)"
      }
    }
  }
}

/// A value for another thread whose type does not conform to `Sendable`.
struct Kept<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
