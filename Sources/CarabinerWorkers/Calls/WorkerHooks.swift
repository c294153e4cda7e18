internal import CCarabiner
internal import CCrossing
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// The hooks of plugins in workers, as the host's chain calls them. Each one crosses to the worker of its instance.
enum WorkerHooks {
  typealias Memory = UnsafeMutableRawPointer

  /// The table of GraphQL stages.
  static func graphQL(_ stage: WorkerDescription.Stage) -> crb_graphql_stage {
    var table = crb_graphql_stage()
    table.size = UInt32(MemoryLayout<crb_graphql_stage>.size)
    table.needs = stage.needs
    table.mutates = stage.mutates
    if stage.has(CCROSSING_ON_REQUEST) {
      unsafe table.on_request = { instance, call, state in
        unsafe WorkerHooks.first(.onRequest, .graphQL, instance, call, state, .none)
      }
    }
    if stage.has(CCROSSING_ON_RESULT) {
      unsafe table.on_result = { instance, call, state, event in
        unsafe WorkerHooks.later(.onResult, .graphQL, instance, call, state, event.map { unsafe .result($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_ERROR) {
      unsafe table.on_error = { instance, call, state, event in
        unsafe WorkerHooks.later(.onError, .graphQL, instance, call, state, event.map { unsafe .error($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_END) {
      unsafe table.on_end = { instance, call, state in unsafe WorkerHooks.later(.onEnd, .graphQL, instance, call, state, .none) }
    }
    // Set even if the plugin has no on_cancel(), because cancelled() depends on it.
    unsafe table.on_cancel = { instance, _, state in unsafe WorkerHooks.cancel(instance, state) }
    unsafe table.release = { instance, state in unsafe WorkerHooks.release(instance, state) }
    return table
  }

  /// The table of HTTP stages.
  static func http(_ stage: WorkerDescription.Stage) -> crb_http_stage {
    var table = crb_http_stage()
    table.size = UInt32(MemoryLayout<crb_http_stage>.size)
    table.needs = stage.needs
    table.mutates = stage.mutates
    if stage.has(CCROSSING_ON_REQUEST) {
      unsafe table.on_request = { instance, call, state in
        unsafe WorkerHooks.first(.onRequest, .http, instance, call, state, .none)
      }
    }
    if stage.has(CCROSSING_ON_HEAD) {
      unsafe table.on_head = { instance, call, state, event in
        unsafe WorkerHooks.later(.onHead, .http, instance, call, state, event.map { unsafe .head($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_CHUNK) {
      unsafe table.on_chunk = { instance, call, state, event in
        unsafe WorkerHooks.later(.onChunk, .http, instance, call, state, event.map { unsafe .chunk($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_ERROR) {
      unsafe table.on_error = { instance, call, state, event in
        unsafe WorkerHooks.later(.onError, .http, instance, call, state, event.map { unsafe .error($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_END) {
      unsafe table.on_end = { instance, call, state in unsafe WorkerHooks.later(.onEnd, .http, instance, call, state, .none) }
    }
    // Set even if the plugin has no on_cancel(), because cancelled() depends on it.
    unsafe table.on_cancel = { instance, _, state in unsafe WorkerHooks.cancel(instance, state) }
    unsafe table.release = { instance, state in unsafe WorkerHooks.release(instance, state) }
    return table
  }

  /// The table of caches.
  static func cache(_ stage: WorkerDescription.Stage) -> crb_cache_stage {
    var table = crb_cache_stage()
    table.size = UInt32(MemoryLayout<crb_cache_stage>.size)
    table.needs = stage.needs
    table.mutates = stage.mutates
    if stage.has(CCROSSING_ON_READ) {
      unsafe table.on_read = { instance, call, state in unsafe WorkerHooks.first(.onRead, .cache, instance, call, state, .none) }
    }
    if stage.has(CCROSSING_ON_WRITE) {
      unsafe table.on_write = { instance, call, state, event in
        unsafe WorkerHooks.later(.onWrite, .cache, instance, call, state, event.map { unsafe .result($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_ERROR) {
      unsafe table.on_error = { instance, call, state, event in
        unsafe WorkerHooks.later(.onError, .cache, instance, call, state, event.map { unsafe .error($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_END) {
      unsafe table.on_end = { instance, call, state in unsafe WorkerHooks.later(.onEnd, .cache, instance, call, state, .none) }
    }
    // Set even if the plugin has no on_cancel(), because cancelled() depends on it.
    unsafe table.on_cancel = { instance, _, state in unsafe WorkerHooks.cancel(instance, state) }
    unsafe table.release = { instance, state in unsafe WorkerHooks.release(instance, state) }
    return table
  }

  /// The table of parsers.
  static func parser(_ stage: WorkerDescription.Stage) -> crb_parser_stage {
    var table = unsafe crb_parser_stage()
    unsafe table.size = unsafe UInt32(MemoryLayout<crb_parser_stage>.size)
    unsafe table.needs = stage.needs
    unsafe table.mutates = stage.mutates
    if stage.has(CCROSSING_ON_HEAD) {
      unsafe table.on_head = { instance, call, state, event in
        unsafe WorkerHooks.first(.onHead, .parsing, instance, call, state, event.map { unsafe .head($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_CHUNK) {
      unsafe table.on_chunk = { instance, call, state, event in
        unsafe WorkerHooks.later(.onChunk, .parsing, instance, call, state, event.map { unsafe .chunk($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_ERROR) {
      unsafe table.on_error = { instance, call, state, event in
        unsafe WorkerHooks.later(.onError, .parsing, instance, call, state, event.map { unsafe .error($0) } ?? .none)
      }
    }
    if stage.has(CCROSSING_ON_END) {
      unsafe table.on_end = { instance, call, state in unsafe WorkerHooks.later(.onEnd, .parsing, instance, call, state, .none) }
    }
    // Set even if the plugin has no on_cancel(), because cancelled() depends on it.
    unsafe table.on_cancel = { instance, _, state in unsafe WorkerHooks.cancel(instance, state) }
    unsafe table.release = { instance, state in unsafe WorkerHooks.release(instance, state) }
    return unsafe table
  }

  /// The first hook of a stage in a call: it makes the state by which later hooks find the call.
  fileprivate static func first(
    _ hook: Hook, _ kind: StageKind, _ instance: Memory?, _ call: crb_call, _ state: UnsafeMutablePointer<Memory?>?,
    _ event: WorkerEvent
  ) -> crb_verdict {
    guard let instance = unsafe WorkerInstance.of(instance), let state = unsafe state, let group = CallTable.shared.find(call)
    else {
      return Verdict.fail
    }
    let visit: WorkerVisit
    if let known = unsafe self.visit(state.pointee) {
      // A retry keeps the state, and a crossing of several stages makes it ahead.
      visit = known
    } else {
      visit = WorkerVisit(kind, home: group.requestID.load(ordering: .relaxed))
      unsafe state.pointee = unsafe Unmanaged.passRetained(visit).toOpaque()
    }
    return unsafe instance.run(hook, kind, group, visit, event)
  }

  fileprivate static func later(
    _ hook: Hook, _ kind: StageKind, _ instance: Memory?, _ call: crb_call, _ state: Memory?, _ event: WorkerEvent
  ) -> crb_verdict {
    guard let instance = unsafe WorkerInstance.of(instance), let group = CallTable.shared.find(call) else { return Verdict.fail }
    return unsafe instance.run(hook, kind, group, visit(state), event)
  }

  fileprivate static func cancel(_ instance: Memory?, _ state: Memory?) {
    guard let instance = unsafe WorkerInstance.of(instance), let visit = unsafe visit(state) else { return }
    instance.cancel(visit)
  }

  fileprivate static func release(_ instance: Memory?, _ state: Memory?) {
    guard let state = unsafe state else { return }
    let visit = unsafe Unmanaged<WorkerVisit>.fromOpaque(state).takeRetainedValue()
    unsafe WorkerInstance.of(instance)?.release(visit)
  }

  /// The state of a stage in a call; nil before its first hook.
  static func visit(_ state: Memory?) -> WorkerVisit? {
    unsafe state.map { unsafe Unmanaged<WorkerVisit>.fromOpaque($0).takeUnretainedValue() }
  }
}
