internal import CCarabiner

/// Plugin stages of one kind that stand side by side in a plan, laid out so that a pass touches as little as it can.
///
/// The slots of the tables are copied into arrays of plain values: going through them counts no references.
@safe final class StageRow: @unchecked Sendable {
  // Written in `init` and never after; the functions are static code of libraries that are never unmapped.

  /// The hooks every kind of stage ends with.
  @safe struct Tail {
    var onError:
      (@convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?, UnsafePointer<crb_error>?) -> crb_verdict)?
    var onEnd: (@convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?) -> crb_verdict)?
    var onCancel: (@convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?) -> Void)?
    var release: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
  }

  let kind: StageKind
  let stages: [StageBinding]
  /// The stages' tables, of the kind of this row; the others are empty.
  let graphQL: [crb_graphql_stage]
  let http: [crb_http_stage]
  let cache: [crb_cache_stage]
  let parser: [crb_parser_stage]
  let tails: [Tail]
  /// Whether a stage's hooks may be called as they are, at any time and on any thread.
  let isConcurrent: [Bool]
  /// What any of the stages wants to see.
  let needs: Parts
  /// What each of them wants to see.
  let needsByStage: [Parts]
  /// Whether some plugin wants an instance of its own for each call.
  let hasInstancesPerCall: Bool
  /// The shared instances, one a stage.
  let instances: UnsafePointer<UnsafeMutableRawPointer?>

  init(_ kind: StageKind, _ stages: [StageBinding]) {
    self.kind = kind
    self.stages = stages
    needs = stages.reduce(into: Parts()) { $0.formUnion($1.needs) }
    needsByStage = stages.map(\.needs)
    isConcurrent = stages.map { $0.plugin.threadClass != UInt32(CRB_THREADS_SERIAL) }
    hasInstancesPerCall = stages.contains { $0.plugin.threadClass == UInt32(CRB_THREADS_PER_CALL) }
    graphQL = kind == .graphQL ? stages.map { $0.plugin.table.graphQL ?? crb_graphql_stage() } : []
    http = kind == .http ? stages.map { $0.plugin.table.http ?? crb_http_stage() } : []
    cache = kind == .cache ? stages.map { $0.plugin.table.cache ?? crb_cache_stage() } : []
    parser = kind == .parsing ? stages.map { $0.plugin.table.parser ?? crb_parser_stage() } : []
    tails = stages.map { Self.tail(of: $0.plugin.table, kind) }
    let shared = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: max(stages.count, 1))
    unsafe shared.initialize(repeating: nil, count: max(stages.count, 1))
    for index in stages.indices { unsafe shared[index] = unsafe stages[index].plugin.instance }
    unsafe instances = unsafe UnsafePointer(shared)
  }

  deinit { unsafe instances.deallocate() }

  private static func tail(of table: InterceptorTable, _ kind: StageKind) -> Tail {
    switch kind {
    case .graphQL:
      unsafe Tail(
        onError: table.graphQL?.on_error, onEnd: table.graphQL?.on_end, onCancel: table.graphQL?.on_cancel,
        release: table.graphQL?.release)
    case .http:
      unsafe Tail(
        onError: table.http?.on_error, onEnd: table.http?.on_end, onCancel: table.http?.on_cancel, release: table.http?.release)
    case .cache:
      unsafe Tail(onError: nil, onEnd: nil, onCancel: table.cache?.on_cancel, release: table.cache?.release)
    case .parsing:
      unsafe Tail(
        onError: table.parser?.on_error, onEnd: table.parser?.on_end, onCancel: table.parser?.on_cancel,
        release: table.parser?.release)
    }
  }
}
