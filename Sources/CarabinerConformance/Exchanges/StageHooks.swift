internal import CCarabiner
internal import CarabinerABI

/// The hooks of one stage of an interceptor, of any kind.
@safe struct StageHooks: @unchecked Sendable {
  // Safe, because the functions belong to a library that is never unmapped.

  typealias Memory = UnsafeMutableRawPointer

  let kind: StageKind
  let needs: Parts
  let mutates: Parts
  private(set) var onRequest: (@convention(c) (Memory?, crb_call, UnsafeMutablePointer<Memory?>?) -> crb_verdict)?
  private(set) var onFirstHead:
    (@convention(c) (Memory?, crb_call, UnsafeMutablePointer<Memory?>?, UnsafePointer<crb_head>?) -> crb_verdict)?
  private(set) var onResult: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_result>?) -> crb_verdict)?
  private(set) var onHead: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_head>?) -> crb_verdict)?
  private(set) var onChunk: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_chunk>?) -> crb_verdict)?
  private(set) var onError: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_error>?) -> crb_verdict)?
  private(set) var onEnd: (@convention(c) (Memory?, crb_call, Memory?) -> crb_verdict)?
  private(set) var onCancel: (@convention(c) (Memory?, crb_call, Memory?) -> Void)?
  private(set) var release: (@convention(c) (Memory?, Memory?) -> Void)?

  /// A stage without hooks. The caller sets the hooks it has.
  private init(_ kind: StageKind, needs: UInt32, mutates: UInt32) {
    self.kind = kind
    self.needs = Parts(rawValue: needs)
    self.mutates = Parts(rawValue: mutates)
  }

  init(_ stage: crb_graphql_stage) {
    self.init(.graphQL, needs: stage.needs, mutates: stage.mutates)
    unsafe onRequest = unsafe stage.on_request
    unsafe onResult = unsafe stage.on_result
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_http_stage) {
    self.init(.http, needs: stage.needs, mutates: stage.mutates)
    unsafe onRequest = unsafe stage.on_request
    unsafe onHead = unsafe stage.on_head
    unsafe onChunk = unsafe stage.on_chunk
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_cache_stage) {
    self.init(.cache, needs: stage.needs, mutates: stage.mutates)
    unsafe onRequest = unsafe stage.on_read
    unsafe onResult = unsafe stage.on_write
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  init(_ stage: crb_parser_stage) {
    unsafe self.init(.parsing, needs: stage.needs, mutates: stage.mutates)
    unsafe onFirstHead = unsafe stage.on_head
    unsafe onChunk = unsafe stage.on_chunk
    unsafe onError = unsafe stage.on_error
    unsafe onEnd = unsafe stage.on_end
    unsafe onCancel = unsafe stage.on_cancel
    unsafe release = unsafe stage.release
  }

  /// All stages of an interceptor, in the order a request passes them.
  static func all(of table: InterceptorTable) -> [StageHooks] {
    let stages: [StageHooks?] = [
      table.graphQL.map { StageHooks($0) }, table.cache.map { StageHooks($0) },
      table.http.map { StageHooks($0) }, unsafe table.parser.map { unsafe StageHooks($0) },
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

  /// Whether the stage gets bodies.
  var seesChunks: Bool { unsafe onChunk != nil }
}
