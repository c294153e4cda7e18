internal import CCarabiner
@_spi(InterceptorHints) package import Carabiner
internal import CarabinerABI
internal import CarabinerWire
internal import FoundationEssentials

/// The caches of a manifest, one after the other: plugins, and the host's own store where the manifest puts it.
package struct CachePluginRun: CacheInterceptor {
  /// One place in the list.
  package enum Entry: Sendable {
    /// A plugin, by its number in the group.
    case plugin(Int)
    case store(DefaultCacheInterceptor)
  }

  private let entries: [Entry]
  private let group: PluginStageGroup
  private let call: PluginCall

  package init(_ entries: [Entry], _ group: PluginStageGroup, call: PluginCall) {
    self.entries = entries
    self.group = group
    self.call = call
  }

  package var stageName: String { "caches" }
  package var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  package func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? {
    let pass = try PluginPass(GraphQLRequestMessage(request), through: group, self.call, timeout: request.requestTimeout)
    let call = pass.call
    call.beginStep(pass)
    defer { call.endStep() }
    for entry in entries {
      switch entry {
      case .store(let cache):
        if let response = try await cache.readCacheData(from: store, request: request) {
          trace("store", "read", .down, "hit")
          return response
        }
        trace("store", "read", .down, "miss")
      case .plugin(let index):
        guard let onRead = unsafe group.onRequest[index] else { continue }
        let made = call.invoke(.onRead, at: index) {
          unsafe onRead(call.stages.instance(index), call.handle, call.stages.states + index)
        }
        if made.hasPassed {
          call.stages.noteReach(index + 1)
          continue
        }
        let (verdict, effects) = try await call.outcome(of: made, .down)
        switch verdict {
        case Verdict.respond:
          guard let element = effects.elements.first else { continue }
          return GraphQLResponse(body: try ResponseBody(element.bytes), source: .cache)
        case Verdict.fail: throw call.failure(effects, .onRead, at: index)
        default: break
        }
      }
    }
    return nil
  }

  /// Writes in reverse order, as responses pass all stages.
  @_specialize(where Request == JSONRequest<DynamicOperation>)
  package func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {
    let pass = try PluginPass(GraphQLRequestMessage(request), through: group, self.call, timeout: request.requestTimeout)
    let call = pass.call
    call.beginStep(pass)
    defer { call.endStep() }
    let whole = unsafe call.memory.view(of: response.result.body, group.shown)
    for entry in entries.reversed() {
      switch entry {
      case .store(let cache):
        try await cache.writeCacheData(to: store, request: request, response: response)
        trace("store", "write", .up, "written")
      case .plugin(let index):
        guard let onWrite = unsafe group.onResult[index] else { continue }
        let event = unsafe try call.keep(whole.restricted(to: group.shownTo[index]))
        unsafe event.pointee.http_status = Int32(response.result.httpResponse?.statusCode ?? 0)
        let made = call.invoke(.onWrite, at: index) {
          unsafe onWrite(call.stages.instance(index), call.handle, call.stages.states[index], event)
        }
        if made.hasPassed { continue }
        let (verdict, effects) = try await call.outcome(of: made, .up)
        if verdict == Verdict.fail { throw call.failure(effects, .onWrite, at: index) }
        if verdict == Verdict.drop { return }
      }
    }
  }

  private func trace(_ stage: String, _ hook: String, _ direction: StageEvent.Direction, _ outcome: String) {
    call.context.tracer?.record(
      StageEvent(kind: .cache, stage: stage, hook: hook, direction: direction, outcome: outcome, duration: .zero))
  }
}

/// The caches of a manifest that names none.
package struct NoCache: CacheInterceptor {
  package init() {}

  package var stageName: String { "caches" }
  package var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals, .keepsNothing] }

  package func readCacheData<Request: GraphQLRequest>(
    from store: ApolloStore, request: Request
  ) async throws -> GraphQLResponse<Request.Operation>? { nil }

  package func writeCacheData<Request: GraphQLRequest>(
    to store: ApolloStore, request: Request, response: ParsedResult<Request.Operation>
  ) async throws {}
}
