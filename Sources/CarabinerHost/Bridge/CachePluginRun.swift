internal import CCarabiner
internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// The caches of a manifest, one after the other: plugins, and the host's own store where the manifest puts it.
final class CachePluginRun: CacheInterceptor {
  /// A place in the list.
  enum Entry: Sendable {
    case plugin(StageBinding)
    case store(DefaultCacheInterceptor)
  }

  private let entries: [Entry]
  private let lanes: LaneOwner
  private let call: PluginCall

  init(_ entries: [Entry], call: PluginCall) {
    self.entries = entries
    self.call = call
    lanes = LaneOwner(
      entries.compactMap { if case .plugin(let stage) = $0 { stage } else { nil } }, call: call)
  }

  var stageName: String { "caches" }
  var traits: StageTraits { [.tracesItself, .bindsNoTaskLocals] }

  func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    let pass = try lanes.beginPass(timeout: request.requestTimeout)
    let lane = pass.lane
    lane.record.message = .graphQL(GraphQLRequestMessage(request))
    var index = 0
    for entry in entries {
      switch entry {
      case .store(let cache):
        if let response = try await cache.readCacheData(from: store, request: request) {
          trace("store", "read", .down, "hit")
          return response
        }
        trace("store", "read", .down, "miss")
      case .plugin(let stage):
        let position = index
        index += 1
        guard let onRead = unsafe stage.plugin.table.cache?.on_read else { continue }
        let (verdict, answer) = try await lane.perform(.onRead, at: position, .down) {
          unsafe onRead(lane.instance(position), lane.record.handle, lane.states + position)
        }
        switch verdict {
        case Verdict.respond:
          guard let element = answer.elements.first else { continue }
          return GraphQLResponse(body: try ResponseBody(element.bytes), source: .cache)
        case Verdict.fail: throw lane.failure(answer, .onRead, at: position)
        default: break
        }
      }
    }
    return nil
  }

  func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    let pass = try lanes.beginPass(timeout: request.requestTimeout)
    let lane = pass.lane
    lane.record.message = .graphQL(GraphQLRequestMessage(request))
    var index = 0
    for entry in entries {
      switch entry {
      case .store(let cache):
        try await cache.writeCacheData(to: store, request: request, response: response)
        trace("store", "write", .up, "written")
      case .plugin(let stage):
        let position = index
        index += 1
        guard let onWrite = unsafe stage.plugin.table.cache?.on_write else { continue }
        let (verdict, answer) = try await lane.perform(.onWrite, at: position, .up) {
          var event = unsafe view(of: response.result.body, status: response.result.httpResponse?.statusCode, lane.record, stage)
          return unsafe onWrite(lane.instance(position), lane.record.handle, lane.states[position], &event)
        }
        if verdict == Verdict.fail { throw lane.failure(answer, .onWrite, at: position) }
        if verdict == Verdict.drop { return }
      }
    }
  }

  private func view(
    of body: ResponseBody, status: Int?, _ record: CallRecord, _ stage: StageBinding
  ) -> crb_result {
    var event = unsafe crb_result()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_result>.size)
    unsafe event.http_status = Int32(status ?? 0)
    if stage.needs.contains(.json) { unsafe event.json = unsafe record.view(of: body.bytes) }
    if stage.needs.contains(.data) { unsafe event.data = unsafe body.data.map { unsafe record.view(of: $0) } ?? (unsafe .absent) }
    if stage.needs.contains(.errors) {
      unsafe event.errors = unsafe body.errors.map { unsafe record.view(of: $0) } ?? (unsafe .absent)
    }
    return unsafe event
  }

  private func trace(_ stage: String, _ hook: String, _ direction: StageEvent.Direction, _ outcome: String) {
    call.context.tracer?.record(
      StageEvent(kind: .cache, stage: stage, hook: hook, direction: direction, outcome: outcome, duration: .zero))
  }
}
