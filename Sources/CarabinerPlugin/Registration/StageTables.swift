internal import CCarabiner

// The stage tables of a type. Hooks it does not implement stay NULL. A C function captures nothing, so all types share the
// functions, and the instance determines which methods are called.

extension crb_graphql_stage {
  init?(_ type: any Plugin.Type) {
    guard let stage = type as? any GraphQL.Stage.Type else { return nil }
    self.init()
    size = UInt32(MemoryLayout<crb_graphql_stage>.size)
    needs = stage.graphQL.needs.rawValue
    mutates = stage.graphQL.mutates.rawValue
    unsafe on_request = { instance, call, word in
      unsafe Hooks.run(instance, call) { unsafe try $0.graphQL?.stage.runRequest($1, word) ?? .continue }
    }
    if type is any GraphQL.OnResult.Type {
      unsafe on_result = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) {
          unsafe try $0.graphQL?.result?.run($1, ResultEvent(raw: event), word) ?? .continue
        }
      }
    }
    if type is any GraphQL.OnError.Type {
      unsafe on_error = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) {
          unsafe try $0.graphQL?.error?.run($1, ErrorEvent(raw: event), word) ?? .continue
        }
      }
    }
    if type is any GraphQL.OnEnd.Type {
      unsafe on_end = { instance, call, word in
        unsafe Hooks.run(instance, call) { unsafe try $0.graphQL?.end?.run($1, word) ?? .continue }
      }
    }
    unsafe on_cancel = { instance, call, _ in
      unsafe Hooks.cancel(instance, call) { $0.graphQL?.cancel?.onCancel(GraphQL.Call(core: $1)) }
    }
    unsafe release = { instance, word in
      unsafe Hooks.release(instance, word) { unsafe $0.graphQL?.stage.releaseGraphQLState($1) }
    }
  }
}

extension crb_http_stage {
  init?(_ type: any Plugin.Type) {
    guard let stage = type as? any HTTP.Stage.Type else { return nil }
    self.init()
    size = UInt32(MemoryLayout<crb_http_stage>.size)
    needs = stage.http.needs.rawValue
    mutates = stage.http.mutates.rawValue
    unsafe on_request = { instance, call, word in
      unsafe Hooks.run(instance, call) { unsafe try $0.http?.stage.runRequest($1, word) ?? .continue }
    }
    if type is any HTTP.OnHead.Type {
      unsafe on_head = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) { unsafe try $0.http?.head?.run($1, Head(raw: event), word) ?? .continue }
      }
    }
    if type is any HTTP.OnChunk.Type {
      unsafe on_chunk = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) { unsafe try $0.http?.chunk?.run($1, Chunk(raw: event), word) ?? .continue }
      }
    }
    if type is any HTTP.OnError.Type {
      unsafe on_error = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) { unsafe try $0.http?.error?.run($1, ErrorEvent(raw: event), word) ?? .continue }
      }
    }
    if type is any HTTP.OnEnd.Type {
      unsafe on_end = { instance, call, word in
        unsafe Hooks.run(instance, call) { unsafe try $0.http?.end?.run($1, word) ?? .continue }
      }
    }
    unsafe on_cancel = { instance, call, _ in
      unsafe Hooks.cancel(instance, call) { $0.http?.cancel?.onCancel(HTTP.Call(core: $1)) }
    }
    unsafe release = { instance, word in
      unsafe Hooks.release(instance, word) { unsafe $0.http?.stage.releaseHTTPState($1) }
    }
  }
}

extension crb_cache_stage {
  init?(_ type: any Plugin.Type) {
    guard let stage = type as? any Cache.Stage.Type else { return nil }
    self.init()
    size = UInt32(MemoryLayout<crb_cache_stage>.size)
    needs = stage.cache.needs.rawValue
    mutates = stage.cache.mutates.rawValue
    unsafe on_read = { instance, call, word in
      unsafe Hooks.run(instance, call) { unsafe try $0.cache?.stage.runRead($1, word) ?? .continue }
    }
    if type is any Cache.OnWrite.Type {
      unsafe on_write = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) {
          unsafe try $0.cache?.write?.run($1, ResultEvent(raw: event), word) ?? .continue
        }
      }
    }
    unsafe on_cancel = { instance, call, _ in
      unsafe Hooks.cancel(instance, call) { $0.cache?.cancel?.onCancel(Cache.Call(core: $1)) }
    }
    unsafe release = { instance, word in
      unsafe Hooks.release(instance, word) { unsafe $0.cache?.stage.releaseCacheState($1) }
    }
  }
}

extension crb_parser_stage {
  init?(_ type: any Plugin.Type) {
    guard let stage = type as? any Parser.Stage.Type else { return nil }
    unsafe self.init()
    unsafe size = unsafe UInt32(MemoryLayout<crb_parser_stage>.size)
    unsafe needs = stage.parser.needs.rawValue
    unsafe mutates = stage.parser.mutates.rawValue
    unsafe accept = unsafe stage.accept.map { unsafe PluginExport.cString($0) }
    unsafe on_head = { instance, call, word, event in
      guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
      return unsafe Hooks.run(instance, call) { unsafe try $0.parser?.stage.runHead($1, Head(raw: event), word) ?? .continue }
    }
    if type is any Parser.OnChunk.Type {
      unsafe on_chunk = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) { unsafe try $0.parser?.chunk?.run($1, Chunk(raw: event), word) ?? .continue }
      }
    }
    if type is any Parser.OnError.Type {
      unsafe on_error = { instance, call, word, event in
        guard let event = unsafe event else { return crb_verdict(CRB_CONTINUE) }
        return unsafe Hooks.run(instance, call) {
          unsafe try $0.parser?.error?.run($1, ErrorEvent(raw: event), word) ?? .continue
        }
      }
    }
    if type is any Parser.OnEnd.Type {
      unsafe on_end = { instance, call, word in
        unsafe Hooks.run(instance, call) { unsafe try $0.parser?.end?.run($1, word) ?? .continue }
      }
    }
    unsafe on_cancel = { instance, call, _ in
      unsafe Hooks.cancel(instance, call) { $0.parser?.cancel?.onCancel(Parser.Call(core: $1)) }
    }
    unsafe release = { instance, word in
      unsafe Hooks.release(instance, word) { unsafe $0.parser?.stage.releaseParserState($1) }
    }
  }
}
