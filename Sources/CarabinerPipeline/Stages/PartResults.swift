internal import Carabiner
internal import Synchronization

/// The results of a part of a list, as the stream that the interceptors of the core read.
///
/// Each result keeps its turn until it is delivered, so the transfer waits and few results are held here.
final class PartResults<Operation: GraphQLOperation>: InterceptorListEnd {
  typealias Step = PullStream<ParsedResult<Operation>>.Step
  private typealias Reader = CheckedContinuation<Transferred<Travel<Operation>>?, any Error>

  private struct State {
    var waiting: [Transferred<Travel<Operation>>] = []
    var error: (any Error)?
    var isFinished = false
    var reader: Reader?
  }

  private let state = Mutex(State())
  private let record: PartRecord<Operation>

  init(_ record: PartRecord<Operation>) { self.record = record }

  func next() async throws -> Step {
    // The turn of the last result ends here, if an interceptor of the core dropped the result.
    record.latest = nil
    let read = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (reader: Reader) in wait(reader) }
    } onCancel: {
      failed(CancellationError())
    }
    guard let travel = read?.value else { return .end }
    record.latest = travel
    guard let response = travel.response, let body = response.parsedResponse?.body else {
      throw RequestChainError(
        .noResults,
        "an interceptor inside StagesInterceptor proceeded with a result that no parser made; deliver it with returnValueAsync")
    }
    let result = GraphQLResponse<Operation>(body: body, source: .server, httpResponse: response.httpResponse)
    return .element(ParsedResult(result: result, cacheRecords: response.cacheRecords))
  }

  private func wait(_ reader: Reader) {
    let answer: Result<Transferred<Travel<Operation>>?, any Error>? = state.withLock { state in
      if !state.waiting.isEmpty { return .success(state.waiting.removeFirst()) }
      if let error = state.error { return .failure(error) }
      if state.isFinished { return .success(nil) }
      state.reader = reader
      return nil
    }
    if let answer { reader.resume(with: answer) }
  }

  // MARK: The end of the list

  func reached<Other: GraphQLOperation>(_ travel: Travel<Other>) {
    guard let travel = travel as? Travel<Operation> else { return }
    let sent = Transferred(travel)
    takeReader { state in
      if state.reader == nil { state.waiting.append(sent) }
    }?.resume(returning: sent)
  }

  func failed(_ error: any Error) {
    takeReader { state in
      if state.reader == nil { state.error = error }
    }?.resume(throwing: error)
  }

  func answered() { record.isAnswered = true }

  func finished() {
    takeReader { $0.isFinished = true }?.resume(returning: nil)
  }

  private func takeReader(_ change: (inout State) -> Void) -> Reader? {
    state.withLock { state in
      change(&state)
      defer { state.reader = nil }
      return state.reader
    }
  }
}

/// The state that the streams of one pass through the core's interceptors share.
final class PartRecord<Operation: GraphQLOperation>: Sendable {
  private struct State {
    var latest: Transferred<Travel<Operation>>?
    var isAnswered = false
  }

  private let state = Mutex(State())

  /// The result that was read last, with its turn.
  var latest: Travel<Operation>? {
    get { state.withLock { $0.latest }?.value }
    set {
      let new = newValue.map { Transferred($0) }
      let old = state.withLock { state in
        defer { state.latest = new }
        return state.latest
      }
      // Released here, outside the lock, because releasing runs code of the user.
      withExtendedLifetime(old) {}
    }
  }

  /// Whether an interceptor delivered a result that did not come through the stream.
  var isAnswered: Bool {
    get { state.withLock { $0.isAnswered } }
    set { state.withLock { $0.isAnswered = newValue } }
  }
}
