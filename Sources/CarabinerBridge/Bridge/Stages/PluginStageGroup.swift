package import CCarabiner
package import CarabinerABI

/// Consecutive plugin stages of one kind in a plan, in a layout that lets a pass read as little memory as possible.
///
/// Each hook has a table of its own with one slot per stage. A pass reads one table from end to end. That counts no references, checks
/// no bounds and reads nothing that the hook does not need.
@safe package final class PluginStageGroup: @unchecked Sendable {
  // Written only in `init`. The functions are static code of libraries that are never unmapped.

  package typealias Memory = UnsafeMutableRawPointer
  package typealias OnRequest = @convention(c) (Memory?, crb_call, UnsafeMutablePointer<Memory?>?) -> crb_verdict
  package typealias OnResult = @convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_result>?) -> crb_verdict
  package typealias OnHead = @convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_head>?) -> crb_verdict
  package typealias OnChunk = @convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_chunk>?) -> crb_verdict

  /// The hooks every kind of stage ends with.
  @safe package struct Tail {
    var onError: (@convention(c) (Memory?, crb_call, Memory?, UnsafePointer<crb_error>?) -> crb_verdict)?
    package var onEnd: (@convention(c) (Memory?, crb_call, Memory?) -> crb_verdict)?
    var onCancel: (@convention(c) (Memory?, crb_call, Memory?) -> Void)?
    var release: (@convention(c) (Memory?, Memory?) -> Void)?
  }

  package let kind: StageKind
  package let stages: [StageBinding]
  package let count: Int
  /// The parts of events that any of the stages asked for.
  let shown: Parts
  /// Whether any of the stages reads results.
  package var seesResults: Bool { !shown.isEmpty && kind == .graphQL }
  /// Whether any of the stages is called for each result, with or without a part of it.
  package let hasResultHooks: Bool
  /// Whether any of the stages reads heads.
  let seesHeads: Bool
  /// Whether any of the stages reads chunks of bodies, or adds some at the end.
  package let seesChunks: Bool
  /// Whether any of the stages has `on_end`.
  let hasEnds: Bool
  /// Whether any of the stages has `release`.
  let hasReleases: Bool
  /// Whether a plugin is called by one thread at a time.
  let hasSerialPlugins: Bool
  /// Whether a plugin has an instance for each call.
  let hasInstancesPerCall: Bool
  /// The stages with a circuit breaker.
  let guarded: [Int]
  /// The calls that pass the group.
  let tally = CallTally()

  /// The group of a call that is not in use.
  static let empty = PluginStageGroup(.graphQL, [])

  // MARK: One slot a stage

  /// `on_request` of GraphQL and HTTP stages, `on_read` of caches.
  package let onRequest: UnsafePointer<OnRequest?>
  /// `on_result` of GraphQL stages, `on_write` of caches.
  package let onResult: UnsafePointer<OnResult?>
  /// `on_head` of HTTP stages.
  package let onHead: UnsafePointer<OnHead?>
  /// `on_chunk` of HTTP stages and parsers.
  package let onChunk: UnsafePointer<OnChunk?>
  package let tails: UnsafePointer<Tail>
  /// The parts of events that the stage asked for.
  package let shownTo: UnsafePointer<Parts>
  /// Whether no two hooks of the stage's instance may run at once.
  let isSerial: UnsafePointer<Bool>
  /// The shared instances.
  let instances: UnsafePointer<Memory?>
  /// Identifies the code of the hooks for a crash report.
  let subjects: UnsafePointer<UInt>
  /// The stages, which ``stages`` keeps.
  let bindings: UnsafePointer<Unmanaged<StageBinding>>

  package init(_ kind: StageKind, _ stages: [StageBinding]) {
    self.kind = kind
    self.stages = stages
    count = stages.count
    let parts = stages.map { $0.needs.intersection(kind == .graphQL || kind == .cache ? .ofResults : .headers) }
    shown = parts.reduce(into: Parts()) { $0.formUnion($1) }
    hasInstancesPerCall = stages.contains { $0.plugin.threadClass == UInt32(CRB_THREADS_PER_CALL) }
    hasSerialPlugins = stages.contains { $0.plugin.threadClass == UInt32(CRB_THREADS_SERIAL) }
    guarded = stages.indices.filter { stages[$0].plugin.breaker != nil }
    let tables = stages.map(\.plugin.table)
    let ends = tables.map { Self.tail(of: $0, kind) }
    hasEnds = ends.contains { unsafe $0.onEnd != nil }
    hasReleases = ends.contains { unsafe $0.release != nil }
    unsafe onRequest = unsafe Self.slots(tables) { table in
      switch kind {
      case .graphQL: unsafe table.graphQL?.on_request
      case .http: unsafe table.http?.on_request
      case .cache: unsafe table.cache?.on_read
      case .parsing: nil
      }
    }
    unsafe onResult = unsafe Self.slots(tables) { table in
      switch kind {
      case .graphQL: unsafe table.graphQL?.on_result
      case .cache: unsafe table.cache?.on_write
      case .http, .parsing: nil
      }
    }
    hasResultHooks = kind == .graphQL && tables.contains { unsafe $0.graphQL?.on_result != nil }
    seesHeads = tables.contains { unsafe $0.http?.on_head != nil }
    seesChunks = tables.contains { unsafe $0.http?.on_chunk != nil || $0.http?.on_end != nil }
    unsafe onHead = unsafe Self.slots(tables) { unsafe $0.http?.on_head }
    unsafe onChunk = unsafe Self.slots(tables) { table in
      switch kind {
      case .http: unsafe table.http?.on_chunk
      case .parsing: unsafe table.parser?.on_chunk
      case .graphQL, .cache: nil
      }
    }
    unsafe tails = unsafe Self.slots(ends) { $0 }
    unsafe shownTo = unsafe Self.slots(parts) { $0 }
    unsafe isSerial = unsafe Self.slots(stages) { $0.plugin.threadClass == UInt32(CRB_THREADS_SERIAL) }
    unsafe instances = unsafe Self.slots(stages) { unsafe $0.plugin.instance }
    unsafe subjects = unsafe Self.slots(stages) { $0.plugin.subject.word }
    unsafe bindings = unsafe Self.slots(stages) { unsafe Unmanaged.passUnretained($0) }
    for stage in stages { stage.plugin.counters.join(tally) }
  }

  deinit {
    for stage in stages { stage.plugin.counters.leave(tally) }
    unsafe onRequest.deallocate()
    unsafe onResult.deallocate()
    unsafe onHead.deallocate()
    unsafe onChunk.deallocate()
    unsafe tails.deallocate()
    unsafe shownTo.deallocate()
    unsafe isSerial.deallocate()
    unsafe instances.deallocate()
    unsafe subjects.deallocate()
    unsafe bindings.deallocate()
  }

  private static func slots<Stage, Slot>(_ stages: [Stage], _ slot: (Stage) -> Slot) -> UnsafePointer<Slot> {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: max(stages.count, 1))
    for index in stages.indices { unsafe (slots + index).initialize(to: slot(stages[index])) }
    return unsafe UnsafePointer(slots)
  }

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
