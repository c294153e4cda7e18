import CarabinerPipeline
import Dispatch
import Foundation
import Synchronization
import TestTools

/// One call of an interceptor.
struct StepCall {
  let chain: any RequestChain
  let request: HTTPRequest<Anything>
  let response: HTTPResponse<Anything>?
  let completion: (Result<GraphQLResult<JSONValue>, any Error>) -> Void

  func proceed(_ response: HTTPResponse<Anything>? = nil) {
    chain.proceedAsync(request: request, response: response ?? self.response, completion: completion)
  }

  func fail(_ error: any Error) {
    chain.handleErrorAsync(error, request: request, response: response, completion: completion)
  }

  func give(_ value: String) { chain.returnValueAsync(for: request, value: .text(value), completion: completion) }
  func retry() { chain.retry(request: request, completion: completion) }
}

/// An operation whose data is JSON.
struct Anything: GraphQLOperation {
  typealias Data = JSONValue

  var operationType = GraphQLOperationType.query
  var operationName: String? = "Test"
  var document = "query Test { a }"
  var variables: JSONObject = [:]
}

/// An interceptor made of a function.
final class Step: ApolloInterceptor, Cancellable {
  private let body: (StepCall) -> Void
  private let cancellations = Atomic<Int>(0)

  init(_ body: @escaping (StepCall) -> Void) { self.body = body }

  var cancelCount: Int { cancellations.load(ordering: .relaxed) }
  func cancel() { cancellations.add(1, ordering: .relaxed) }

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let call = StepCall(chain, request, response, completion) else { return }
    body(call)
  }
}

/// The same without `Cancellable`.
struct ValueStep: ApolloInterceptor {
  let body: (StepCall) -> Void

  init(_ body: @escaping (StepCall) -> Void) { self.body = body }

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let call = StepCall(chain, request, response, completion) else { return }
    body(call)
  }
}

/// An error interceptor made of a function.
final class ErrorStep: ApolloErrorInterceptor, Cancellable {
  private let body: (any Error, StepCall) -> Void
  private let cancellations = Atomic<Int>(0)

  init(_ body: @escaping (any Error, StepCall) -> Void) { self.body = body }

  var cancelCount: Int { cancellations.load(ordering: .relaxed) }
  func cancel() { cancellations.add(1, ordering: .relaxed) }

  func handleErrorAsync<Operation: GraphQLOperation>(
    error: any Error, chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let call = StepCall(chain, request, response, completion) else { return }
    body(error, call)
  }
}

extension StepCall {
  init?<Operation: GraphQLOperation>(
    _ chain: any RequestChain, _ request: HTTPRequest<Operation>, _ response: HTTPResponse<Operation>?,
    _ completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let request = request as? HTTPRequest<Anything>,
      let completion = completion as? (Result<GraphQLResult<JSONValue>, any Error>) -> Void
    else { return nil }
    self.init(chain: chain, request: request, response: response as? HTTPResponse<Anything>, completion: completion)
  }
}

extension GraphQLResult<JSONValue> {
  /// A result whose data is this text.
  static func text(_ text: String, source: Source = .cache) -> Self {
    GraphQLResult(data: .string(text), extensions: nil, errors: nil, source: source, dependentKeys: nil)
  }
}

/// An error of a test.
struct Fault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The results of one call, in order.
final class Results<Value: Sendable>: Sendable {
  typealias Element = Result<GraphQLResult<Value>, any Error>

  private let list = Mutex<[Element]>([])

  func add(_ result: Element) { list.withLock { $0.append(result) } }

  var all: [Element] { list.withLock { $0 } }

  /// Each result in a word: the data, or the error.
  var words: [String] {
    all.map { result in
      switch result {
      case .success(let value): value.data.map { ($0 as? JSONValue)?.string ?? "\($0)" } ?? "nil"
      case .failure(let error): "\(error)"
      }
    }
  }

  /// The words, when there are this many.
  func words(_ count: Int) async -> [String] {
    _ = await eventually { self.all.count >= count }
    return words
  }
}

/// The actions of the steps, in order.
final class Log: Sendable {
  private let list = Mutex<[String]>([])

  func note(_ entry: String) { list.withLock { $0.append(entry) } }
  var entries: [String] { list.withLock { $0 } }
}

/// A chain with its request and results.
final class TestCall {
  let chain: InterceptorRequestChain
  let results = Results<JSONValue>()
  let request: HTTPRequest<Anything>
  let queue: DispatchQueue

  init(
    _ interceptors: [any ApolloInterceptor], errors: (any ApolloErrorInterceptor)? = nil, cachePolicy: CachePolicy = .default,
    queue: DispatchQueue = DispatchQueue(label: "test callbacks"), configure: (InterceptorRequestChain) -> Void = { _ in }
  ) {
    self.queue = queue
    chain = InterceptorRequestChain(interceptors: interceptors, callbackQueue: queue)
    chain.additionalErrorHandler = errors
    configure(chain)
    request = HTTPRequest(
      graphQLEndpoint: URL(filePath: "/graphql"), operation: Anything(), contentType: "application/json", clientName: "test",
      clientVersion: "1", additionalHeaders: [:], cachePolicy: cachePolicy)
  }

  @discardableResult func start() -> Self {
    chain.kickoff(request: request) { [results] in results.add($0) }
    return self
  }

  /// Waits for the callbacks that were handed in so far, and some time for others that must not come.
  func settle() async {
    for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
  }
}

/// A step that ends the list with a value.
func ending(_ text: String = "end") -> Step {
  Step { call in
    let response = HTTPResponse<Anything>(
      response: HTTPURLResponse(url: call.request.graphQLEndpoint, statusCode: 200), rawData: Data(),
      parsedResponse: .text(text, source: .server))
    call.proceed(response)
  }
}
