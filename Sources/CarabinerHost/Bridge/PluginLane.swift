internal import CCarabiner
internal import Carabiner
internal import Logging
internal import Synchronization

/// One request's way through a row of plugin stages of one kind: their states, and how far each has come.
///
/// It lives as long as the request, retries included, and ends every stage exactly once: that is what rule R9 rests on.
@safe final class PluginLane: @unchecked Sendable {
  // Used by the request's task alone, as its stages are; only `cancel` may come from another thread and touches atomics.

  enum Progress {
    /// Not reached, or done with its last pass.
    case idle
    /// Its first hook answered CONTINUE; an end is owed.
    case open
  }

  let record: CallRecord
  let call: PluginCall
  let stages: [StageBinding]
  private var instances: [UnsafeMutableRawPointer?]
  private(set) var states: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private var progress: [Progress]
  private var wasRevoked = false
  private static let logger = Logger(label: "carabiner.host")

  /// - Throws: ``PluginError`` if there are too many calls, or an instance cannot be made.
  init(_ stages: [StageBinding], call: PluginCall) throws {
    guard let record = CallTable.shared.take() else {
      throw PluginError(
        code: .failed, entry: stages.first?.plugin.name ?? "", hook: "",
        message: "more than \(CallTable.maximumCalls) calls are under way; send fewer at once")
    }
    self.record = record
    self.call = call
    self.stages = stages
    progress = Array(repeating: .idle, count: stages.count)
    unsafe states = .allocate(capacity: max(stages.count, 1))
    unsafe states.initialize(repeating: nil, count: max(stages.count, 1))
    unsafe instances = unsafe []
    record.call = call
    record.operation.store(call.operationCode, ordering: .relaxed)
    record.request.store(call.context.id, ordering: .relaxed)
    do {
      unsafe instances = unsafe try stages.map { unsafe try $0.plugin.instanceForCall() }
    } catch {
      unsafe states.deallocate()
      CallTable.shared.giveBack(record, mayBeRead: false)
      throw error
    }
  }

  deinit {
    for index in stages.indices {
      // What is still open was dropped by its consumer or cancelled.
      if progress[index] == .open { cancelHook(index) }
      if let state = unsafe states[index] { unsafe tail(index).release?(instances[index], state) }
      unsafe stages[index].plugin.endOfCall(instances[index])
    }
    unsafe states.deallocate()
    CallTable.shared.giveBack(record, mayBeRead: wasRevoked)
  }

  /// Begins a pass through the stages: the first, or a retry.
  func beginPass(deadline: UInt64) {
    record.attempt.store(UInt32(clamping: call.context.attempt), ordering: .relaxed)
    record.deadline.store(deadline, ordering: .relaxed)
    record.scopeBaggage = Baggage.current
    record.innerBaggage = Baggage()
  }

  func open(_ index: Int) { progress[index] = .open }
  func close(_ index: Int) { progress[index] = .idle }
  func isOpen(_ index: Int) -> Bool { progress[index] == .open }

  func instance(_ index: Int) -> UnsafeMutableRawPointer? { unsafe instances[index] }

  // MARK: Hooks

  /// Runs one hook to its end, suspended or not, and checks what it answers.
  ///
  /// - Returns: The verdict, CONTINUE to RECOVER, and what was staged.
  /// - Throws: ``PluginError`` if the plugin broke a rule or took too long; `CancellationError`.
  func perform(
    _ hook: Hook, at index: Int, _ direction: StageEvent.Direction, _ body: () -> crb_verdict
  ) async throws -> (verdict: crb_verdict, answer: StagedAnswer) {
    let stage = stages[index]
    let start = call.context.tracer == nil ? nil : ContinuousClock.now
    record.begin(hook, of: stage)
    var verdict = stage.plugin.run(body)
    var fault: PluginError?
    if verdict == Verdict.pending {
      verdict = try await completion(hook, at: index)
    } else if record.suspended.revoke() {
      fault = .fault(stage.plugin.name, hook, "a token was taken with suspend() but the hook answered \(Verdict.name(verdict))")
    }
    let answer = record.finishHook()
    if verdict < 0 { verdict = Verdict.fail }
    if fault == nil { fault = violation(verdict, answer, hook, stage) }
    if let start {
      call.context.tracer?.record(
        StageEvent(
          kind: stage.kind.traceKind, stage: stage.plugin.name, hook: hook.rawValue, direction: direction,
          outcome: fault.map { "fault: \($0.message)" } ?? Verdict.name(verdict), duration: .now - start))
    }
    guard let fault else { return (verdict, answer) }
    guard stage.plugin.options.skipsOnFault else { throw fault }
    Self.logger.error("plugin fault passed over", metadata: ["entry": "\(stage.plugin.name)", "fault": "\(fault.message)"])
    return (Verdict.continue, StagedAnswer())
  }

  /// What is wrong with an answer, if anything.
  private func violation(
    _ verdict: crb_verdict, _ answer: StagedAnswer, _ hook: Hook, _ stage: StageBinding
  ) -> PluginError? {
    let name = stage.plugin.name
    guard hook.allows(verdict, for: stage.kind) else {
      return .fault(name, hook, "the verdict \(Verdict.name(verdict)) is not allowed in \(stage.kind.rawValue) \(hook.rawValue)")
    }
    switch verdict {
    case Verdict.respond where answer.elements.isEmpty && stage.kind != .http:
      return .fault(name, hook, "RESPOND without a staged result")
    case Verdict.respond where stage.kind == .http && answer.head == nil:
      return .fault(name, hook, "RESPOND without a staged head")
    case Verdict.recover where answer.elements.isEmpty:
      return .fault(name, hook, "RECOVER without a staged result")
    case Verdict.continue where (hook == .onRequest || hook == .onRead) && !answer.elements.isEmpty:
      return .fault(name, hook, "CONTINUE after staging a result; answer RESPOND")
    default: return nil
    }
  }

  /// The error of a FAIL.
  func failure(_ answer: StagedAnswer, _ hook: Hook, at index: Int) -> PluginError {
    answer.error
      ?? PluginError(
        code: .failed, entry: stages[index].plugin.name, hook: hook.rawValue,
        message: "the plugin failed the call without saying why; look at its log")
  }

  // MARK: Waiting

  private func completion(_ hook: Hook, at index: Int) async throws -> crb_verdict {
    let generation = record.suspended.generation
    let suspended = record.suspended
    if let limit = pendingLimit(index) {
      HostEnvironment.current.schedule(limit) { suspended.revoke(generation) }
    }
    let verdict = await withTaskCancellationHandler {
      await suspended.completion()
    } onCancel: {
      cancel(index, generation)
    }
    guard let verdict else {
      _ = record.finishHook()
      throw PluginError.fault(stages[index].plugin.name, hook, "PENDING without a token from suspend()")
    }
    guard verdict != SuspendedHook.revoked else {
      wasRevoked = true
      _ = record.finishHook()
      try Task.checkCancellation()
      throw PluginError(
        code: .timedOut, entry: stages[index].plugin.name, hook: hook.rawValue,
        message: "the hook stayed pending for too long; raise the entry's timeout, or look at what the plugin waits for",
        flags: UInt32(CRB_ERROR_TIMEOUT))
    }
    if Task.isCancelled {
      _ = record.finishHook()
      throw CancellationError()
    }
    guard verdict != Verdict.pending else {
      _ = record.finishHook()
      throw PluginError.fault(stages[index].plugin.name, hook, "resume() with PENDING")
    }
    return verdict
  }

  /// How long the hook may stay pending: what the manifest allows, and never beyond the request's deadline.
  private func pendingLimit(_ index: Int) -> Duration? {
    let deadline = record.deadline.load(ordering: .relaxed)
    let untilDeadline =
      deadline == .max ? nil : Duration.nanoseconds(Int64(clamping: deadline) - Int64(clamping: MonotonicClock.nanoseconds))
    return [stages[index].plugin.options.hookTimeout, untilDeadline].compactMap { $0 }.min()
  }

  /// The caller went away while a hook is pending: the plugin is told, and gets a grace to finish.
  private func cancel(_ index: Int, _ generation: UInt32) {
    cancelHook(index)
    let suspended = record.suspended
    HostEnvironment.current.schedule(call.limits.cancelGrace) { suspended.revoke(generation) }
  }

  private func cancelHook(_ index: Int) {
    record.isCancelled.store(true, ordering: .releasing)
    unsafe tail(index).cancel?(instances[index], record.handle, states[index])
  }

  /// Tells every open stage that the call was cancelled.
  func cancelOpenStages() {
    for index in stages.indices.reversed() where progress[index] == .open {
      cancelHook(index)
      progress[index] = .idle
    }
  }

  // MARK: Tables

  typealias ErrorHook =
    @convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?, UnsafePointer<crb_error>?) -> crb_verdict
  typealias EndHook = @convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?) -> crb_verdict
  typealias CancelHook = @convention(c) (UnsafeMutableRawPointer?, crb_call, UnsafeMutableRawPointer?) -> Void
  typealias ReleaseHook = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void

  /// The hooks every kind of stage ends with.
  func tail(_ index: Int) -> (error: ErrorHook?, end: EndHook?, cancel: CancelHook?, release: ReleaseHook?) {
    let table = stages[index].plugin.table
    return switch stages[index].kind {
    case .graphQL: unsafe (table.graphQL?.on_error, table.graphQL?.on_end, table.graphQL?.on_cancel, table.graphQL?.release)
    case .http: unsafe (table.http?.on_error, table.http?.on_end, table.http?.on_cancel, table.http?.release)
    case .cache: unsafe (nil, nil, table.cache?.on_cancel, table.cache?.release)
    case .parsing: unsafe (table.parser?.on_error, table.parser?.on_end, table.parser?.on_cancel, table.parser?.release)
    }
  }

  /// Runs a stage's `on_end`, if it has one, and ends its pass.
  func end(_ index: Int) async throws -> StagedAnswer {
    defer { close(index) }
    guard let onEnd = unsafe tail(index).end else { return StagedAnswer() }
    let (verdict, answer) = try await perform(.onEnd, at: index, .up) {
      unsafe onEnd(instances[index], record.handle, states[index])
    }
    guard verdict != Verdict.fail else { throw failure(answer, .onEnd, at: index) }
    return answer
  }
}

extension StageKind {
  var traceKind: StageEvent.Kind {
    switch self {
    case .graphQL: .graphQL
    case .http: .http
    case .cache: .cache
    case .parsing: .parsing
    }
  }
}
