internal import CCarabiner
@_spi(InterceptorHints) internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire
internal import FoundationEssentials

/// The caches of a manifest, one after the other: plugins, and the host's own store where the manifest puts it.
struct CachePluginRun: CacheInterceptor {
  /// A place in the list.
  enum Entry: Sendable {
    /// A plugin, by its number in the row.
    case plugin(Int)
    case store(DefaultCacheInterceptor)
  }

  private let entries: [Entry]
  private let lanes: CallStatePool

  init(_ entries: [Entry], _ row: PluginStageGroup, call: PluginCall) {
    self.entries = entries
    lanes = CallStatePool(row, call: call)
  }

  var stageName: String { "caches" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    let pass = try lanes.beginPass(timeout: request.requestTimeout)
    let lane = pass.lane
    let record = lane.record
    record.message = .graphQL(GraphQLRequestMessage(request))
    defer { record.endStep() }
    for entry in entries {
      switch entry {
      case .store(let cache):
        if let response = try await cache.readCacheData(from: store, request: request) {
          trace("store", "read", .down, "hit")
          return response
        }
        trace("store", "read", .down, "miss")
      case .plugin(let index):
        guard let onRead = unsafe lane.row.onRequest[index] else { continue }
        let made = lane.invoke(.onRead, at: index) { unsafe onRead(lane.instance(index), record.handle, lane.states + index) }
        if made.hasPassed {
          lane.noteReach(index + 1)
          continue
        }
        let (verdict, answer) = try await lane.outcome(of: made, .down)
        switch verdict {
        case Verdict.respond:
          guard let element = answer.elements.first else { continue }
          return GraphQLResponse(body: try ResponseBody(element.bytes), source: .cache)
        case Verdict.fail: throw lane.failure(answer, .onRead, at: index)
        default: break
        }
      }
    }
    return nil
  }

  /// Writes in the opposite order: a response passes the stages its request passed, reversed.
  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    let pass = try lanes.beginPass(timeout: request.requestTimeout)
    let lane = pass.lane
    let record = lane.record
    record.message = .graphQL(GraphQLRequestMessage(request))
    defer { record.endStep() }
    let whole = unsafe record.view(of: response.result.body, lane.row.shown)
    for entry in entries.reversed() {
      switch entry {
      case .store(let cache):
        try await cache.writeCacheData(to: store, request: request, response: response)
        trace("store", "write", .up, "written")
      case .plugin(let index):
        guard let onWrite = unsafe lane.row.onResult[index] else { continue }
        let event = unsafe record.keep(whole.restricted(to: lane.row.shownTo[index]))
        unsafe event.pointee.http_status = Int32(response.result.httpResponse?.statusCode ?? 0)
        let made = lane.invoke(.onWrite, at: index) {
          unsafe onWrite(lane.instance(index), record.handle, lane.states[index], event)
        }
        if made.hasPassed { continue }
        let (verdict, answer) = try await lane.outcome(of: made, .up)
        if verdict == Verdict.fail { throw lane.failure(answer, .onWrite, at: index) }
        if verdict == Verdict.drop { return }
      }
    }
  }

  private func trace(_ stage: String, _ hook: String, _ direction: StageEvent.Direction, _ outcome: String) {
    lanes.call.context.tracer?.record(
      StageEvent(kind: .cache, stage: stage, hook: hook, direction: direction, outcome: outcome, duration: .zero))
  }
}

/// The caches of a manifest that names none.
struct NoCache: CacheInterceptor {
  var stageName: String { "caches" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals, .keepsNothing] }

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? { nil }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {}
}
