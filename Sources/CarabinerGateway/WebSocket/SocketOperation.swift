internal import Carabiner
internal import CarabinerWire
internal import Synchronization

/// An operation of a WebSocket, from `subscribe` to its end.
final class SocketOperation: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  let id: String
  private let dialect: WebSocketProtocol
  private let operation: DynamicOperation
  private let state = Mutex(State())

  init(id: String, _ dialect: WebSocketProtocol, _ operation: DynamicOperation) {
    self.id = id
    self.dialect = dialect
    self.operation = operation
  }

  /// Whether it ends by itself, as queries and mutations do.
  var isFinite: Bool { operation.operationType != .subscription }

  /// Cancels the operation.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// Runs `body` in the operation's task.
  func run(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Void) {
    let task = Task(executorPreference: executor) {
      TaskMemory.reserve()
      await body()
    }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Sends the results to the client, and returns after the last one.
  func deliver(_ service: SocketService, _ link: SocketLink) async {
    let trace = service.trace(operation, link)
    do {
      // The client may have left while the operation was queued.
      guard !state.withLock(\.isCancelled) else { throw CancellationError() }
      let running = try service.runner.begin(
        operation, headers: link.headers, requestID: link.requestID, client: link.client, path: link.path,
        forwarded: link.forwarded, trace: trace, sending: nil, takesPassedBody: false)
      func ended(_ outcome: OperationOutcome) {
        service.operationMetrics.ended(operation.operationType, outcome)
        running.ended(outcome)
      }
      do {
        let last = try await deliver(running.results, link)
        if let last { service.operationMetrics.countResponse(from: last.source) }
        ended(last?.hasErrors == true ? .hadErrors : .succeeded)
      } catch {
        ended(isGone(error) ? .cancelled : .failed(status: FailureAnswer.status(of: error)))
        throw error
      }
      service.metrics.ended(.completed)
      trace?.end()
    } catch {
      guard !isGone(error) else {
        service.metrics.ended(.cancelled)
        trace?.cancelled()
        return link.end(self, [])
      }
      let failure = FailureAnswer(error, redact: service.redact)
      service.log(error, operation, failure, link)
      service.metrics.ended(.failed)
      trace?.failed(failure.status, failure.code)
      trace?.end()
      link.end(self, lastMessages(errors: failure.list))
    }
  }

  /// - Returns: The last result; nil for a subscription that ended without results.
  private func deliver(
    _ results: PullStream<GraphQLResponse<DynamicOperation>>, _ link: SocketLink
  ) async throws -> GraphQLResponse<DynamicOperation>? {
    guard !isFinite else {
      // A client cannot state that it accepts deferred parts, so the result is sent as a whole.
      let result = try await results.finalResult()
      link.end(self, lastMessages(result))
      return result
    }
    var last: GraphQLResponse<DynamicOperation>?
    while true {
      switch try await results.pull() {
      case .element(let result) where result.body.isRequestError:
        link.end(self, lastMessages(result))
        return result
      case .element(let result):
        try await link.send(self, message(result))
        try Task.checkCancellation()
        last = result
      case .last(let result):
        link.end(self, lastMessages(result))
        return result
      case .end:
        link.end(self, [ServerMessage.complete(id: id)])
        return last
      }
    }
  }

  /// The last messages for this result. Request errors are sent as an `error` message.
  private func lastMessages(_ result: GraphQLResponse<DynamicOperation>) -> [[UInt8]] {
    guard result.body.isRequestError, let errors = result.body.errors else {
      return [message(result), ServerMessage.complete(id: id)]
    }
    return lastMessages(errors: Array(errors))
  }

  /// The last messages of a failure.
  private func lastMessages(errors: [UInt8]) -> [[UInt8]] { [ServerMessage.errors(id: id, errors, dialect)] }

  private func message(_ result: GraphQLResponse<DynamicOperation>) -> [UInt8] {
    ServerMessage.next(id: id, payload: Array(result.body.bytes), dialect)
  }

  private func isGone(_ error: any Error) -> Bool {
    error is CancellationError || state.withLock(\.isCancelled)
  }
}
