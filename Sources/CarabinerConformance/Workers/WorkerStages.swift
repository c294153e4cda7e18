internal import CCarabiner
internal import CarabinerABI
internal import CarabinerWorkers

/// The functions of a plugin's table that cross to its worker.
enum WorkerStages {
  typealias Memory = UnsafeMutableRawPointer

  /// Puts the functions of this process into the table of a ``WatchedWorker``, each where the plugin has one.
  static func connect(_ plugin: UnsafePointer<crb_plugin>, _ interceptors: [WatchedInterceptor]) {
    for (index, interceptor) in interceptors.enumerated() {
      guard let item = unsafe plugin.pointee.items?[index] else { continue }
      let table = unsafe UnsafeMutablePointer(mutating: item)
      unsafe table.pointee.thread_class = interceptor.threadClass
      if interceptor.hasValidate { unsafe table.pointee.validate = { _, _, _ in Status.unsupported } }
      unsafe table.pointee.drain = interceptor.hasDrain ? { PluginWorker.current?.drain(unsafe WorkerStages.number($0)) } : nil
      unsafe table.pointee.destroy = { PluginWorker.current?.destroy(unsafe WorkerStages.number($0)) }
      unsafe table.pointee.`extension` = nil
      if let stage = unsafe table.pointee.graphql { unsafe connect(UnsafeMutablePointer(mutating: stage), interceptor) }
      if let stage = unsafe table.pointee.http { unsafe connect(UnsafeMutablePointer(mutating: stage), interceptor) }
      if let stage = unsafe table.pointee.cache { unsafe connect(UnsafeMutablePointer(mutating: stage), interceptor) }
      if let stage = unsafe table.pointee.parser { unsafe connect(UnsafeMutablePointer(mutating: stage), interceptor) }
    }
  }

  fileprivate static func number(_ instance: Memory?) -> UInt32 { UInt32(truncatingIfNeeded: UInt(bitPattern: instance)) }

  fileprivate static func cross(
    _ hook: Hook, _ kind: StageKind, _ instance: Memory?, _ call: crb_call, _ state: UnsafeMutablePointer<Memory?>? = nil,
    _ event: (inout WatchedMessage) -> Void = { _ in }
  ) -> crb_verdict {
    unsafe PluginWorker.current?.cross(hook, kind, number(instance), call, state, event) ?? Verdict.fail
  }

  fileprivate static func cancel(_ kind: StageKind, _ instance: Memory?, _ call: crb_call) {
    PluginWorker.current?.cancel(call, kind, unsafe number(instance))
  }

  private static func connect(_ stage: UnsafeMutablePointer<crb_graphql_stage>, _ interceptor: WatchedInterceptor) {
    if unsafe stage.pointee.on_request != nil {
      unsafe stage.pointee.on_request = { unsafe WorkerStages.cross(.onRequest, .graphQL, $0, $1, $2) }
    }
    if unsafe stage.pointee.on_result != nil {
      unsafe stage.pointee.on_result = { instance, call, _, event in
        unsafe WorkerStages.cross(.onResult, .graphQL, instance, call) { message in
          if let event = unsafe event { unsafe message.set(result: event) }
        }
      }
    }
    if unsafe stage.pointee.on_error != nil {
      unsafe stage.pointee.on_error = { instance, call, _, event in
        unsafe WorkerStages.cross(.onError, .graphQL, instance, call) { message in
          if let event = unsafe event { unsafe message.set(error: event) }
        }
      }
    }
    if unsafe stage.pointee.on_end != nil {
      unsafe stage.pointee.on_end = { instance, call, _ in unsafe WorkerStages.cross(.onEnd, .graphQL, instance, call) }
    }
    unsafe stage.pointee.on_cancel =
      interceptor.cancelling.contains(.graphQL)
      ? { instance, call, _ in unsafe WorkerStages.cancel(.graphQL, instance, call) } : nil
    unsafe stage.pointee.release =
      interceptor.releasing.contains(.graphQL) ? { _, state in unsafe PluginWorker.current?.release(state) } : nil
  }

  private static func connect(_ stage: UnsafeMutablePointer<crb_http_stage>, _ interceptor: WatchedInterceptor) {
    if unsafe stage.pointee.on_request != nil {
      unsafe stage.pointee.on_request = { unsafe WorkerStages.cross(.onRequest, .http, $0, $1, $2) }
    }
    if unsafe stage.pointee.on_head != nil {
      unsafe stage.pointee.on_head = { instance, call, _, event in
        unsafe WorkerStages.cross(.onHead, .http, instance, call) { message in
          if let event = unsafe event { unsafe message.set(head: event) }
        }
      }
    }
    if unsafe stage.pointee.on_chunk != nil {
      unsafe stage.pointee.on_chunk = { instance, call, _, event in
        unsafe WorkerStages.cross(.onChunk, .http, instance, call) { message in
          if let event = unsafe event { unsafe message.set(chunk: event) }
        }
      }
    }
    if unsafe stage.pointee.on_error != nil {
      unsafe stage.pointee.on_error = { instance, call, _, event in
        unsafe WorkerStages.cross(.onError, .http, instance, call) { message in
          if let event = unsafe event { unsafe message.set(error: event) }
        }
      }
    }
    if unsafe stage.pointee.on_end != nil {
      unsafe stage.pointee.on_end = { instance, call, _ in unsafe WorkerStages.cross(.onEnd, .http, instance, call) }
    }
    unsafe stage.pointee.on_cancel =
      interceptor.cancelling.contains(.http) ? { instance, call, _ in unsafe WorkerStages.cancel(.http, instance, call) } : nil
    unsafe stage.pointee.release =
      interceptor.releasing.contains(.http) ? { _, state in unsafe PluginWorker.current?.release(state) } : nil
  }

  private static func connect(_ stage: UnsafeMutablePointer<crb_cache_stage>, _ interceptor: WatchedInterceptor) {
    if unsafe stage.pointee.on_read != nil {
      unsafe stage.pointee.on_read = { unsafe WorkerStages.cross(.onRead, .cache, $0, $1, $2) }
    }
    if unsafe stage.pointee.on_write != nil {
      unsafe stage.pointee.on_write = { instance, call, _, event in
        unsafe WorkerStages.cross(.onWrite, .cache, instance, call) { message in
          if let event = unsafe event { unsafe message.set(result: event) }
        }
      }
    }
    unsafe stage.pointee.on_cancel =
      interceptor.cancelling.contains(.cache) ? { instance, call, _ in unsafe WorkerStages.cancel(.cache, instance, call) } : nil
    unsafe stage.pointee.release =
      interceptor.releasing.contains(.cache) ? { _, state in unsafe PluginWorker.current?.release(state) } : nil
  }

  private static func connect(_ stage: UnsafeMutablePointer<crb_parser_stage>, _ interceptor: WatchedInterceptor) {
    if unsafe stage.pointee.on_head != nil {
      unsafe stage.pointee.on_head = { instance, call, state, event in
        unsafe WorkerStages.cross(.onHead, .parsing, instance, call, state) { message in
          if let event = unsafe event { unsafe message.set(head: event) }
        }
      }
    }
    if unsafe stage.pointee.on_chunk != nil {
      unsafe stage.pointee.on_chunk = { instance, call, _, event in
        unsafe WorkerStages.cross(.onChunk, .parsing, instance, call) { message in
          if let event = unsafe event { unsafe message.set(chunk: event) }
        }
      }
    }
    if unsafe stage.pointee.on_error != nil {
      unsafe stage.pointee.on_error = { instance, call, _, event in
        unsafe WorkerStages.cross(.onError, .parsing, instance, call) { message in
          if let event = unsafe event { unsafe message.set(error: event) }
        }
      }
    }
    if unsafe stage.pointee.on_end != nil {
      unsafe stage.pointee.on_end = { instance, call, _ in unsafe WorkerStages.cross(.onEnd, .parsing, instance, call) }
    }
    unsafe stage.pointee.on_cancel =
      interceptor.cancelling.contains(.parsing)
      ? { instance, call, _ in unsafe WorkerStages.cancel(.parsing, instance, call) } : nil
    unsafe stage.pointee.release =
      interceptor.releasing.contains(.parsing) ? { _, state in unsafe PluginWorker.current?.release(state) } : nil
  }
}
