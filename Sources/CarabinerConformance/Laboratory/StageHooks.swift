internal import CCarabiner
internal import CarabinerHost

/// The hooks of one stage of an interceptor, whatever its kind.
@safe struct StageHooks: @unchecked Sendable {
  // Functions of a library that is never unmapped.

  typealias Memory = UnsafeMutableRawPointer

  let kind: StageKind
  let needs: Parts
  let mutates: Parts
  let onRequest: (@convention(c) (Memory?, crb_call, UnsafeMutablePointer<Memory?>?) -> crb_verdict)?
  let onFirstHead: (@convention(c) (Memory?, crb_call, UnsafeMutablePointer<Memory?>?, UnsafePointer<crb_head>?) -> crb_verdict)?
  let onResult: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_result>?) -> crb_verdict)?
  let onHead: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_head>?) -> crb_verdict)?
  let onChunk: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_chunk>?) -> crb_verdict)?
  let onError: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_error>?) -> crb_verdict)?
  let onEnd: (@convention(c) (Memory?, crb_call, Memory?) -> crb_verdict)?
  let onCancel: (@convention(c) (Memory?, crb_call, Memory?) -> Void)?
  let release: (@convention(c) (Memory?, Memory?) -> Void)?

  init(_ stage: crb_graphql_stage) {
    kind = .graphQL
    needs = Parts(rawValue: stage.needs)
    mutates = Parts(rawValue: stage.mutates)
    unsafe onRequest = unsafe stage.on_request
    unsafe onFirstHead = nil
    unsafe onResult = unsafe stage.on_result
    unsafe onHead = nil
    unsafe onChunk = nil
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_http_stage) {
    kind = .http
    needs = Parts(rawValue: stage.needs)
    mutates = Parts(rawValue: stage.mutates)
    unsafe onRequest = unsafe stage.on_request
    unsafe onFirstHead = nil
    unsafe onResult = nil
    unsafe onHead = unsafe stage.on_head
    unsafe onChunk = unsafe stage.on_chunk
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_cache_stage) {
    kind = .cache
    needs = Parts(rawValue: stage.needs)
    mutates = Parts(rawValue: stage.mutates)
    unsafe onRequest = unsafe stage.on_read
    unsafe onFirstHead = nil
    unsafe onResult = unsafe stage.on_write
    unsafe onHead = nil
    unsafe onChunk = nil
    unsafe onError = nil
    unsafe onEnd = nil
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_parser_stage) {
    kind = .parsing
    needs = Parts(rawValue: stage.needs)
    mutates = Parts(rawValue: stage.mutates)
    unsafe onRequest = nil
    unsafe onFirstHead = unsafe stage.on_head
    unsafe onResult = nil
    unsafe onHead = nil
    unsafe onChunk = unsafe stage.on_chunk
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  /// All stages of an interceptor, in order of travel.
  static func all(of table: InterceptorTable) -> [StageHooks] {
    let stages: [StageHooks?] = [
      table.graphQL.map { StageHooks($0) }, table.cache.map { StageHooks($0) },
      table.http.map { StageHooks($0) }, table.parser.map { StageHooks($0) },
    ]
    return stages.compactMap(\.self)
  }
}

extension StageHooks {
  /// Some address in the library's code.
  var code: UnsafeRawPointer? {
    unsafe onRequest.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }
      ?? onFirstHead.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }
  }

  /// Whether the stage looks at bodies.
  var seesChunks: Bool { unsafe onChunk != nil }
}
