internal import CCarabiner
@_spi(InterceptorHints) internal import Carabiner
internal import CarabinerABI

/// Consecutive GraphQL stages of plugins, run in one loop: to the chain they are one interceptor.
struct GraphQLPluginRun: GraphQLInterceptor {
  private let lanes: CallStatePool

  init(_ row: PluginStageGroup, call: PluginCall) { lanes = CallStatePool(row, call: call) }

  var stageName: String { "plugins" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let ascent = GraphQLResponsePipeline<Request>(pass: try lanes.beginPass(timeout: request.requestTimeout), request: request)
    let lane = ascent.lane
    let message = GraphQLRequestMessage(request)
    lane.record.message = .graphQL(message)
    do {
      var descent = Descent.next
      if let made = lane.descend(from: 0) { descent = try await descend(lane, message, after: made) }
      lane.record.endStep()
      switch descent {
      case .next:
        ascent.request = message.request
        let baggage = lane.record.innerBaggage
        guard !baggage.isEmpty else {
          ascent.inner = await next(message.request)
          break
        }
        ascent.inner = await Baggage.$current.withValue(Baggage.current.merging(baggage)) {
          await next(message.request).startedInThisScope()
        }
      case .respond(let elements, let stage):
        ascent.inner = PullStream(elements: try elements.map { try ascent.result(of: $0) })
        ascent.depth = stage
      case .fail(let error, let stage):
        ascent.inner = .failing(error)
        ascent.depth = stage
      }
    } catch {
      lane.record.endStep()
      ascent.inner = .failing(error)
      ascent.depth = ascent.openDepth
    }
    return PullStream { try await ascent.next() }
  }

  private enum Descent {
    case next
    /// Stage number `stage` answered itself; those before it see the answer.
    case respond([StagedEffects.Element], stage: Int)
    case fail(any Error, stage: Int)
  }

  /// Goes on where a stage had more to say than that the request may pass.
  private func descend<Request: GraphQLRequest>(
    _ lane: PluginCallState, _ message: GraphQLRequestMessage<Request>, after first: HookInvocation
  ) async throws -> Descent {
    var next: HookInvocation? = first
    while let made = next {
      let index = made.index
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
      next = lane.descend(from: index + 1)
    }
    return .next
  }
}
