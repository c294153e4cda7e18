internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The way up through a run of GraphQL stages: results in reverse order, errors, ends, and what stages put in their place.
final class GraphQLResponsePipeline<Request: GraphQLRequest>: @unchecked Sendable {
  // Pulled by one consumer at a time, as every stream of the chain is.

  typealias Result = ParsedResult<Request.Operation>
  typealias Step = PullStream<Result>.Step

  let lane: PluginCallState
  private let pass: CallLease
  // One consumer at a time, as said above, so nothing is gained by having the runtime check each access.
  @safe @exclusivity(unchecked) var request: Request
  /// What the stages further in bring; nil once it is over.
  @safe @exclusivity(unchecked) var inner: InterceptorResultStream<Request>?
  /// How many stages, from the outermost, lie between the inner stream and the caller.
  var depth: Int
  /// Results that are ready to go outward. Mostly none ever is here, and to end an array nothing has to be known of its elements.
  @safe @exclusivity(unchecked) private var ready: ArraySlice<Result> = []
  private var sequence: UInt64 = 0

  init(pass: consuming CallLease, request: Request) {
    lane = pass.lane
    self.pass = pass
    self.request = request
    depth = lane.row.count
  }

  /// How many stages, from the outermost, have been opened in this pass.
  var openDepth: Int { (0..<lane.row.count).prefix { lane.isOpen($0) }.count }

  func next() async throws -> Step {
    while ready.isEmpty, inner != nil {
      do {
        let step = try await inner?.pull() ?? .end
        switch step {
        case .element(let result):
          let look = look(at: result, from: depth - 1)
          // Most results every stage only looks at; they go on as they came.
          if look.made == nil { return pass(step) }
          guard try await ascend(result, look) else { continue }
        case .last(let result):
          let look = look(at: result, from: depth - 1)
          if look.made == nil, lane.closeSilently(from: depth - 1) == nil {
            inner = nil
            return pass(step)
          }
          _ = try await ascend(result, look)
        case .end: break
        }
        inner = nil
        if let stage = lane.closeSilently(from: depth - 1) { try await finish(from: stage) }
      } catch {
        try await handle(error)
      }
    }
    guard let result = ready.popFirst() else { return .end }
    lane.call.noteDelivery()
    return inner == nil && ready.isEmpty ? .last(result) : .element(result)
  }

  private func pass(_ step: Step) -> Step {
    lane.record.endStep()
    sequence += 1
    lane.call.noteDelivery()
    return step
  }

  // MARK: Results

  /// What stages were shown of a result, and the first that has more to say than that it may pass.
  @safe private struct ResultInspection {
    let event: UnsafePointer<crb_result>
    let made: HookInvocation?
  }

  private func look(at result: Result, from outermost: Int) -> ResultInspection {
    lane.record.endStep()
    let event = unsafe UnsafePointer(lane.record.keep(event(for: result)))
    return unsafe ResultInspection(event: event, made: lane.ascend(event, from: outermost))
  }

  /// Takes a result through the stages from `index` outward.
  ///
  /// - Returns: Whether a stage ended the stream with it.
  private func ascend(_ result: Result, from outermost: Int) async throws -> Bool {
    try await ascend(result, look(at: result, from: outermost))
  }

  /// Goes on where a stage had more to say.
  private func ascend(_ result: Result, _ look: ResultInspection) async throws -> Bool {
    defer { lane.record.endStep() }
    var next = look.made
    while let made = next {
      let index = made.index
      let (verdict, answer) = try await atStage(index) { try await lane.outcome(of: made, .up) }
      switch verdict {
      case Verdict.drop:
        return false
      case Verdict.fail:
        throw StageFailure(error: lane.failure(answer, .onResult, at: index), depth: index)
      case Verdict.retry:
        let retry = RetryRequest(lane, answer, at: index, .onResult)
        guard retry.isPossible else { break }
        try await retry.allow()
        throw RequestChain<Request>.Retry(request: request)
      default: break
      }
      let isFinished = verdict == Verdict.finish
      guard answer.elements.isEmpty else {
        var wasEnded = false
        for element in answer.elements where !wasEnded {
          let replaced = try atStageSync(index) { try self.result(of: element, like: result) }
          wasEnded = try await ascend(replaced, from: index - 1)
        }
        return isFinished || wasEnded
      }
      if isFinished {
        _ = try await ascend(result, from: index - 1)
        return true
      }
      next = unsafe lane.ascend(look.event, from: index - 1)
    }
    sequence += 1
    ready.append(result)
    return false
  }

  /// The inner stream is over: every stage that is still open learns it, from the innermost.
  private func finish(from index: Int) async throws {
    inner = nil
    defer { lane.record.endStep() }
    var last = index
    while let stage = lane.closeSilently(from: last) {
      last = stage - 1
      let answer = try await atStage(stage) { try await lane.end(stage) }
      for element in answer.elements {
        _ = try await ascend(try result(of: element), from: stage - 1)
      }
    }
  }

  // MARK: Errors

  /// Takes an error outward; a stage may pass it on, replace it, or put a result in its place.
  private func handle(_ thrown: any Error) async throws {
    inner = nil
    var error = (thrown as? StageFailure)?.error ?? thrown
    var index = ((thrown as? StageFailure)?.depth ?? depth) - 1
    if let failed = thrown as? StageFailure { closeInside(failed.depth) }
    guard !error.isChainControl else {
      if error is CancellationError { lane.cancelOpenStages() }
      throw error
    }
    while index >= 0 {
      let stage = index
      index -= 1
      guard lane.isOpen(stage) else { continue }
      let told: (verdict: crb_verdict, answer: StagedEffects)?
      do {
        told = try await lane.tell(error, stage)
      } catch {
        if error is CancellationError {
          lane.cancelOpenStages()
          throw error
        }
        return try await handle(StageFailure(error: error, depth: stage))
      }
      guard let (verdict, answer) = told else { continue }
      switch verdict {
      case Verdict.recover:
        for element in answer.elements { _ = try await ascend(try result(of: element), from: stage - 1) }
        return try await finish(from: stage - 1)
      case Verdict.drop:
        return try await finish(from: stage - 1)
      case Verdict.retry:
        let retry = RetryRequest(lane, answer, at: stage, .onError)
        guard retry.isPossible else { break }
        try await retry.allow()
        throw RequestChain<Request>.Retry(request: request)
      case Verdict.fail:
        if let staged = answer.error { error = staged }
      default: break
      }
    }
    throw error
  }

  /// A stage failed on the way up: those further in are done, for their stream will not be pulled again.
  private func closeInside(_ depth: Int) {
    for stage in stride(from: depth, to: lane.row.count, by: 1) { lane.close(stage) }
  }

  private func atStage<Value>(_ index: Int, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error where !(error is StageFailure) && !error.isChainControl {
      throw StageFailure(error: error, depth: index)
    }
  }

  private func atStageSync<Value>(_ index: Int, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw StageFailure(error: error, depth: index)
    }
  }

  // MARK: What crosses the border

  /// What all stages together asked to see of a result; the same for each but for the parts it did not ask for.
  private func event(for result: Result) -> crb_result {
    let response = result.result
    var event = unsafe lane.record.view(of: response.body, lane.row.shown)
    unsafe event.seq = sequence
    unsafe event.http_status = Int32(response.httpResponse?.statusCode ?? 0)
    if response.source == .cache { unsafe event.flags |= UInt32(CRB_RESULT_CACHE) }
    if response.source == .interceptor { unsafe event.flags |= UInt32(CRB_RESULT_SYNTHETIC) }
    if let delivery = response.delivery { unsafe lane.record.show(delivery, in: &event) }
    return unsafe event
  }

  /// A result of the bytes a plugin staged.
  func result(of element: StagedEffects.Element, like original: Result? = nil) throws -> Result {
    let source: GraphQLResponse<Request.Operation>.Source =
      element.flags & UInt32(CRB_RESULT_CACHE) != 0 ? .cache : original?.result.source ?? .interceptor
    let body = try ResponseBody(element.bytes)
    var response = GraphQLResponse<Request.Operation>(
      body: body, source: source, httpResponse: original?.result.httpResponse)
    response.delivery = original?.result.delivery ?? ResultDelivery(flags: element.flags)
    return Result(
      result: response,
      cacheRecords: original?.cacheRecords == nil ? nil : ApolloStore.records(of: body, to: request))
  }
}
