internal import CCarabiner
internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import Synchronization

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

/// A GraphQL request with its type forgotten, as hooks see it.
final class GraphQLRequestMessage<Request: GraphQLRequest>: GraphQLMessage {
  private(set) var request: Request

  init(_ request: Request) { self.request = request }

  var headers: HTTPHeaders { request.additionalHeaders }
  var operationName: String? { request.operation.operationName }

  var document: String {
    switch request.wireOverrides.document {
    case .original, .omitted: request.operation.document
    case .replaced(let text): text
    }
  }

  var variables: [UInt8] {
    request.wireOverrides.variables?.bytes ?? JSONValue.object(request.operation.variables).serialized()
  }

  var extensions: [UInt8] { JSONValue.object(request.wireOverrides.extensions).serialized() }

  /// Lets what a hook staged take effect. The setters have checked it.
  func apply(_ answer: StagedAnswer) {
    guard answer.isTouched else { return }
    if let headers = answer.headers { request.additionalHeaders = headers }
    for (part, bytes) in answer.fields {
      switch Parts(rawValue: part) {
      case .document: request.wireOverrides.document = .replaced(String(decoding: bytes ?? Data(), as: UTF8.self))
      case .variables: request.wireOverrides.variables = bytes.flatMap { try? JSONText(checking: [UInt8]($0)) }
      case .extensions:
        request.wireOverrides.extensions = bytes.flatMap { try? JSONValue(parsing: [UInt8]($0)).object } ?? [:]
      default: break
      }
    }
  }
}

/// A retry a plugin asks for: counted, and waited for.
struct RetryRequest {
  private let lane: PluginLane
  private let answer: StagedAnswer
  private let index: Int
  private let hook: Hook

  init(_ lane: PluginLane, _ answer: StagedAnswer, at index: Int, _ hook: Hook) {
    self.lane = lane
    self.answer = answer
    self.index = index
    self.hook = hook
  }

  /// Whether a retry makes sense at all: what went outward cannot be taken back.
  var isPossible: Bool { !lane.call.wasDelivered }

  /// Counts the retry and waits as long as the plugin asked for, at most to the deadline.
  func allow() async throws {
    guard lane.call.mayRetry() else {
      throw PluginError(
        code: .retryLimit, entry: lane.name(index), hook: hook.name,
        message: "plugins asked for more than \(lane.call.limits.maximumRetries) retries of one request; look at what the retry "
          + "does not mend, or raise plugin-retries")
    }
    guard answer.retryDelay > 0 else { return }
    let deadline = lane.record.deadline.load(ordering: .relaxed)
    let left = deadline == .max ? UInt64.max : deadline - min(deadline, MonotonicClock.nanoseconds)
    try await Task.sleep(for: .nanoseconds(Int64(clamping: min(answer.retryDelay, left))))
  }
}
