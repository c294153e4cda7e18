import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Older generations on eight threads", .timeLimit(.minutes(2)))
struct ThreadTests {
  private static let threads = 8
  private static let rounds = 2

  @Test(
    "eight threads use one client with retries, cancellations and its store, and each call has its own results",
    arguments: CrowdClient.allCases)
  fileprivate func client(_ kind: CrowdClient) async throws {
    let crowd = try Crowd(kind)
    await onThreads(Self.threads) { thread in
      for round in 0..<Self.rounds { crowd.useClient(number: 1000 * thread + 10 * round) }
    }
    #expect(crowd.faults.entries.isEmpty, "\(crowd.faults.entries)")
    let calls = crowd.cancelled
    #expect(calls.count == Self.rounds * Self.threads)
    if kind.reportsCancellation { #expect(await eventually { calls.allSatisfy { $0.all.count == 1 } }) }
    // A call may have ended before it was cancelled. No other outcome is possible.
    for call in calls {
      #expect(call.all.count <= 1)
      for case .failure(let error) in call.all { #expect(kind.reportsCancellation && error is CancellationError, "\(error)") }
    }
  }

  @Test("eight threads retry and cancel one chain: no pass is lost, and each interceptor is cancelled once")
  func chain() async {
    let passes = Counter()
    let step = Step { call in
      passes.next()
      call.proceed()
    }
    let call = TestCall([step, ending()], queue: .global(), configure: { $0.maximumAttempts = 10_000 })
    let shared = Sent(call)
    await onThreads(Self.threads) { _ in
      for _ in 0..<50 { shared.value.chain.retry(request: shared.value.request) { shared.value.results.add($0) } }
    }
    #expect(passes.value <= 50 * Self.threads && passes.value > 0)
    #expect(await eventually { call.chain.places == 0 })
    await onThreads(Self.threads) { _ in
      shared.value.chain.cancel()
      shared.value.chain.retry(request: shared.value.request) { shared.value.results.add($0) }
    }
    let (delivered, entered) = (call.results.all.count, passes.value)
    #expect(delivered <= entered && call.results.words.allSatisfy { $0 == "end" })
    await call.settle()
    #expect(call.results.all.count <= entered && passes.value == entered && step.cancelCount <= 1)
  }
}

/// Runs `body` on threads of its own, with the number of each.
private func onThreads(_ count: Int, _ body: @escaping (Int) -> Void) async {
  let body = Sent(body)
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<count {
      group.addTask {
        await withCheckedContinuation { done in
          let thread = Thread {
            body.value(number)
            done.resume()
          }
          thread.start()
        }
      }
    }
  }
}

/// The kinds of clients that threads share.
private enum CrowdClient: CaseIterable {
  case newInterceptors
  case sharedInterceptors
  case legacy
  case delegate

  /// Whether a cancelled call has an outcome.
  var reportsCancellation: Bool { self == .delegate }
}

/// A client that several threads use, and a server that refuses the first request for each number.
private final class Crowd: @unchecked Sendable {
  // The client is what the test uses from several threads. The rest is immutable or locked.
  let faults = Log()
  private let server: ScriptedServer
  private let client: ApolloClient
  private let store = ApolloStore()
  private let calls = Mutex<[Results<HeroQuery.Data>]>([])

  var cancelled: [Results<HeroQuery.Data>] { calls.withLock { $0 } }

  init(_ kind: CrowdClient) throws {
    let seen = SeenNumbers()
    server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let number = request.json?["variables"]?["n"]?.string ?? "none"
        guard seen.hasSeen(number) else { return try peer.json("{}", status: "503 Busy") }
        try peer.json(#"{"data":{"hero":{"__typename":"Droid","id":"\#(number)","name":"R\#(number)"}}}"#)
      })
    store.cacheKeyForObject = { $0["id"] }
    client = ApolloClient(
      networkTransport: kind.transport(to: try #require(URL(string: server.origin)), store), store: store)
  }

  /// Fetches, reads, watches and cancels queries with numbers from `number` on.
  func useClient(number: Int) {
    let query = NumberedHero(number: number)
    client.cacheKeyForObject = { $0["id"] }
    expect(query, .fetchIgnoringCacheData, ["server R\(number)"])
    expect(query, .returnCacheDataDontFetch, ["cache R\(number)"])
    expect(query, .returnCacheDataAndFetch, ["cache R\(number)", "server R\(number)"])
    let (results, done) = (Results<HeroQuery.Data>(), DispatchSemaphore(value: 0))
    let watcher = client.watch(query: query, callbackQueue: .global()) { result in
      results.add(result)
      done.signal()
    }
    if done.wait(timeout: .now() + 60) == .timedOut { faults.note("the watcher of \(number) got no result") }
    watcher.cancel()
    if results.outcomes.first != "cache R\(number)" { faults.note("the watcher of \(number) got \(results.outcomes)") }
    let cancelled = Results<HeroQuery.Data>()
    let call = client.fetch(query: NumberedHero(number: number + 1), queue: .global()) { cancelled.add($0) }
    call.cancel()
    call.cancel()
    calls.withLock { $0.append(cancelled) }
  }

  private func expect(_ query: NumberedHero, _ policy: CarabinerPipeline.CachePolicy, _ expected: [String]) {
    let (results, done) = (Results<HeroQuery.Data>(), DispatchSemaphore(value: 0))
    client.fetch(query: query, cachePolicy: policy, queue: .global()) { result in
      results.add(result)
      done.signal()
    }
    for _ in expected where done.wait(timeout: .now() + 60) == .timedOut { break }
    if results.outcomes != expected { faults.note("\(policy) of \(query.number): \(results.outcomes)") }
  }
}

extension CrowdClient {
  /// A transport that sends each refused request again.
  fileprivate func transport(to url: URL, _ store: CarabinerPipeline.ApolloStore) -> any NetworkTransport {
    switch self {
    case .newInterceptors:
      let provider = TestProvider(store: store)
      provider.errors = RetryOnce()
      return RequestChainNetworkTransport(interceptorProvider: provider, endpointURL: url)
    case .sharedInterceptors:
      return RequestChainNetworkTransport(interceptorProvider: SharedList(store), endpointURL: url)
    case .legacy:
      return RequestChainNetworkTransport(
        interceptorProvider: RetryingLegacy(store: store), endpointURL: url, requestCreator: TenantCreator())
    case .delegate:
      let recorder = Recorder()
      recorder.retry = { _, _, response, answer in
        let answer = Kept(answer)
        let isBusy = response?.statusCode == 503
        DispatchQueue.global().async { answer.value(isBusy) }
      }
      return HTTPNetworkTransport(url: url, delegate: recorder, requestCreator: TenantCreator())
    }
  }
}

/// The hero with a number.
private struct NumberedHero: GraphQLQuery {
  typealias Data = HeroQuery.Data

  let number: Int
  var operationName: String? { "Hero" }
  var document: String { "query Hero($n: ID!) { hero(n: $n) { __typename id name } }" }
  var variables: JSONObject { ["n": .string("\(number)")] }
}

/// The numbers that a server has got.
private final class SeenNumbers: Sendable {
  private let numbers = Mutex<Set<String>>([])

  func hasSeen(_ number: String) -> Bool { numbers.withLock { !$0.insert(number).inserted } }
}

/// One list of interceptors for all requests.
private final class SharedList: InterceptorProvider {
  private let list: [any ApolloInterceptor]

  init(_ store: CarabinerPipeline.ApolloStore) {
    list = [
      MaxRetryInterceptor(), CacheReadInterceptor(store: store), NetworkFetchInterceptor(client: URLSessionClient()),
      ResponseCodeInterceptor(), JSONResponseParsingInterceptor(), AutomaticPersistedQueryInterceptor(),
      CacheWriteInterceptor(store: store),
    ]
  }

  func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] { list }

  func additionalErrorInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> (any ApolloErrorInterceptor)? {
    RetryOnce()
  }
}

/// The list of the 0.3x generation, with a retry.
private final class RetryingLegacy: LegacyInterceptorProvider {
  override func additionalErrorInterceptor<Operation: GraphQLOperation>(
    for operation: Operation
  ) -> (any ApolloErrorInterceptor)? { RetryOnce() }
}
