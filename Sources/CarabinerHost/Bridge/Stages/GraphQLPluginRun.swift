internal import CCarabiner
internal import Carabiner

/// Consecutive GraphQL stages of plugins, run in one loop: to the chain they are one interceptor.
final class GraphQLPluginRun: GraphQLInterceptor {
  private let lanes: LaneOwner
  private let call: PluginCall

  init(_ row: StageRow, call: PluginCall) {
    lanes = LaneOwner(row, call: call)
    self.call = call
  }

  var stageName: String { "plugins" }
  var traits: StageTraits { [.tracesItself, .bindsNoTaskLocals] }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let ascent = GraphQLAscent<Request>(pass: try lanes.beginPass(timeout: request.requestTimeout), call: call, request: request)
    let lane = ascent.lane
    do {
      switch try await descend(lane, request) {
      case .next(let request):
        ascent.request = request
        let baggage = lane.record.innerBaggage
        guard !baggage.isEmpty else {
          ascent.inner = await next(request)
          break
        }
        ascent.inner = await Baggage.$current.withValue(Baggage.current.merging(baggage)) {
          await next(request).startedInThisScope()
        }
      case .respond(let elements, let stage):
        ascent.inner = PullStream(elements: try elements.map { try ascent.result(of: $0) })
        ascent.depth = stage
      case .fail(let error, let stage):
        ascent.inner = .failing(error)
        ascent.depth = stage
      }
    } catch {
      ascent.inner = .failing(error)
      ascent.depth = ascent.openDepth
    }
    return PullStream { try await ascent.next() }
  }

  private enum Descent<Request> {
    case next(Request)
    /// Stage number `stage` answered itself; those before it see the answer.
    case respond([StagedAnswer.Element], stage: Int)
    case fail(any Error, stage: Int)
  }

  private func descend<Request: GraphQLRequest>(_ lane: PluginLane, _ request: Request) async throws -> Descent<Request> {
    let message = GraphQLRequestMessage(request)
    let record = lane.record
    record.message = .graphQL(message)
    defer { record.endStep() }
    for index in lane.row.graphQL.indices {
      guard let onRequest = unsafe lane.row.graphQL[index].on_request else { continue }
      let made = lane.invoke(.onRequest, at: index) { unsafe onRequest(lane.instance(index), record.handle, lane.states + index) }
      if made.hasPassed {
        lane.open(index)
        continue
      }
      let (verdict, answer) = try await lane.outcome(of: made, .down)
      switch verdict {
      case Verdict.respond:
        return .respond(answer.elements, stage: index)
      case Verdict.retry:
        message.apply(answer)
        try await RetryRequest(lane, answer, at: index, .onRequest).allow()
        throw RequestChain<Request>.Retry(request: message.request)
      case Verdict.fail:
        return .fail(lane.failure(answer, .onRequest, at: index), stage: index)
      default:
        message.apply(answer)
        lane.open(index)
      }
    }
    return .next(message.request)
  }
}
