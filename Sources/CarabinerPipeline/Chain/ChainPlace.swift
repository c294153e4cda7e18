internal import Carabiner
internal import Synchronization

/// The value that an interceptor gets as its `chain`.
///
/// It knows the place of the interceptor, so the interceptor may proceed at any time and any number of times.
final class ChainPlace: RequestChain, @unchecked Sendable {
  // Immutable. The place itself is used under its own rules.

  let place: Place

  init(_ place: Place) { self.place = place }

  var engine: InterceptorRequestChain { place.engine }
  var isCancelled: Bool { engine.isCancelled }
  func cancel() { engine.cancel() }

  func kickoff<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    retry(request: request, completion: completion)
  }

  func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    proceed(Travel(request, response, completion, place.turn))
  }

  /// Runs the next interceptor with a result of the server, whose turn is `travel.turn`.
  func proceed<Operation: GraphQLOperation>(_ travel: Travel<Operation>) {
    place.use("proceeded")
    guard let index = place.index else { return engine.proceedFromErrorInterceptor(place, travel) }
    engine.enter(index + 1, of: place.list, place.pass, travel)
  }

  func proceedAsync<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?, interceptor: any ApolloInterceptor,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    place.use("proceeded")
    let travel = Travel(request, response, completion, place.turn)
    guard let index = place.index else { return engine.proceedFromErrorInterceptor(place, travel) }
    engine.proceed(behind: interceptor.id, orBehind: index, of: place.list, place.pass, travel)
  }

  func retry<Operation: GraphQLOperation>(
    request: HTTPRequest<Operation>, completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    place.use("retried")
    engine.retry(place.pass, Travel(request, nil, completion, nil), isFromErrorInterceptor: place.index == nil)
  }

  func handleErrorAsync<Operation: GraphQLOperation>(
    _ error: any Error, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    place.use("failed: \(error)", isFailure: true)
    let travel = Travel(request, response, completion, place.turn)
    if place.index == nil {
      engine.deliver(.failure(error), place.pass, travel)
    } else {
      engine.report(error, of: place.list, place.pass, travel)
    }
  }

  func returnValueAsync<Operation: GraphQLOperation>(
    for request: HTTPRequest<Operation>, value: GraphQLResult<Operation.Data>,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    place.use("answered")
    place.list.end?.answered()
    engine.deliver(.success(value), place.pass, Travel(request, nil, completion, place.turn))
  }
}

/// The values that go from one interceptor to the next.
struct Travel<Operation: GraphQLOperation> {
  typealias Completion = (Result<GraphQLResult<Operation.Data>, any Error>) -> Void

  let request: HTTPRequest<Operation>
  let response: HTTPResponse<Operation>?
  let completion: Completion
  /// The turn of the server's result; nil before the fetch.
  let turn: ResultTurn?

  init(
    _ request: HTTPRequest<Operation>, _ response: HTTPResponse<Operation>?, _ completion: @escaping Completion,
    _ turn: ResultTurn?
  ) {
    self.request = request
    self.response = response
    self.completion = completion
    self.turn = turn
  }
}

/// A place in a pass. The chain value and the completion of its interceptor keep it.
///
/// When both are released and neither was used, the request could never end. The place then reports its interceptor.
class Place: @unchecked Sendable {
  // Immutable, but for an atomic and for what `deinit` alone changes.

  let engine: InterceptorRequestChain
  let pass: Pass
  let list: InterceptorList
  /// The index of the interceptor; nil for the additional error interceptor.
  let index: Int?
  let turn: ResultTurn?
  /// Whether the interceptor got a response.
  private let hasResponse: Bool
  /// The time at which the interceptor was called; nil if the chain is not traced.
  private let start: ContinuousClock.Instant?
  private let used = Atomic<Bool>(false)

  init(
    _ engine: InterceptorRequestChain, _ pass: Pass, _ list: InterceptorList, _ index: Int?, _ turn: ResultTurn?,
    hasResponse: Bool
  ) {
    self.engine = engine
    self.pass = pass
    self.list = list
    self.index = index
    self.turn = turn
    self.hasResponse = hasResponse
    start = engine.tracer == nil ? nil : .now
    engine.livePlaces.add(1, ordering: .relaxed)
  }

  deinit { engine.livePlaces.subtract(1, ordering: .releasing) }

  /// Notes that the interceptor went on. The tracer gets the first outcome.
  func use(_ outcome: @autoclosure () -> String, isFailure: Bool = false) {
    guard start != nil else { return used.store(true, ordering: .relaxed) }
    if !used.exchange(true, ordering: .relaxed) { trace(outcome(), isFailure: isFailure) }
  }

  /// Reports the step of the interceptor to the tracer of the chain.
  func trace(_ outcome: String, isFailure: Bool) {
    guard let tracer = engine.tracer, let start else { return }
    tracer.record(
      StageEvent(
        kind: .graphQL, stage: index.map { list.name(at: $0) } ?? engine.errorHandlerName,
        hook: index == nil ? "handleErrorAsync" : "interceptAsync", direction: hasResponse ? .up : .down, outcome: outcome,
        isFailure: isFailure, duration: ContinuousClock.now - start))
  }

  var isUsed: Bool { used.load(ordering: .acquiring) }
}

/// A place of an operation.
final class OperationPlace<Operation: GraphQLOperation>: Place, @unchecked Sendable {
  private var travel: Travel<Operation>?
  /// The error that the additional error interceptor is shown; nil for any other interceptor.
  private let error: (any Error)?

  init(
    _ engine: InterceptorRequestChain, _ pass: Pass, _ list: InterceptorList, _ index: Int?, error: (any Error)? = nil,
    _ travel: Travel<Operation>
  ) {
    self.travel = travel
    self.error = error
    super.init(engine, pass, list, index, travel.turn, hasResponse: travel.response != nil)
  }

  deinit {
    if !isUsed, let travel {
      trace("abandoned", isFailure: true)
      if let error {
        engine.deliver(.failure(error), pass, travel)
      } else if let index {
        engine.report(InterceptorRequestChain.ChainError.abandoned(by: list.name(at: index)), of: list, pass, travel)
      }
    }
    // Each completion keeps the place before it. Releasing them one inside the other would need a stack as deep as the chain is long.
    var last: Any? = travel
    travel = nil
    engine.trampoline.release(&last)
  }

  /// The closure for the interceptor at this place.
  var completion: Travel<Operation>.Completion {
    { result in
      self.use("completed")
      self.complete(result)
    }
  }

  private func complete(_ result: Result<GraphQLResult<Operation.Data>, any Error>) {
    guard let travel else { return }
    list.end?.answered()
    engine.complete(result, pass, travel)
  }
}
