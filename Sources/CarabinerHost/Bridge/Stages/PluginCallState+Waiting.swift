internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// Hooks that answered PENDING.
extension PluginCallState {
  /// Waits for the verdict of a pending hook.
  ///
  /// - Throws: ``PluginError`` if the plugin broke a rule or took too long; `CancellationError`.
  func completion(_ hook: Hook, at index: Int) async throws -> crb_verdict {
    // One that was resumed before its hook returned is as good as an answer: it needs no timer and no place to wait.
    let early = record.suspended.takeVerdict()
    let verdict = if let early { early } else { try await awaitedVerdict(hook, at: index) }
    guard verdict != Verdict.pending else {
      _ = record.takeAnswer()
      throw PluginError.fault(name(index), hook, "resume() with PENDING")
    }
    return verdict
  }

  /// How often the processor is offered to others before a pending hook is waited for; a few microseconds at most if nobody takes it.
  private static var yieldsBeforeSleep: Int { 10 }

  private func awaitedVerdict(_ hook: Hook, at index: Int) async throws -> crb_verdict {
    let suspended = record.suspended
    let generation = suspended.generation
    // Asked before anything can revoke the token, which a short limit may do before this comes to wait.
    guard suspended.isArmed else {
      _ = record.takeAnswer()
      throw PluginError.fault(name(index), hook, "PENDING without a token from suspend()")
    }
    // Most that wait for another thread need it for a moment. To let it run costs less than to sleep and be woken, which takes the
    // system two calls, and the executor as many hops.
    for _ in 0..<Self.yieldsBeforeSleep {
      sched_yield()
      if let soon = suspended.takeVerdict() { return soon }
    }
    if let limit = pendingLimit(index) { suspended.revoke(generation, after: limit, on: environment(index)) }
    defer { suspended.cancelRevocations() }
    let verdict = await withTaskCancellationHandler {
      await suspended.completion()
    } onCancel: {
      cancel(index, generation)
    }
    if Task.isCancelled { unproven.append(index) }
    guard verdict != SuspendedHook.revoked else {
      noteRevoked(index)
      _ = record.takeAnswer()
      try Task.checkCancellation()
      throw PluginError(
        code: .timedOut, entry: name(index), hook: hook.name,
        message: "the hook stayed pending for too long; raise the entry's timeout, or look at what the plugin waits for",
        flags: UInt32(CRB_ERROR_TIMEOUT))
    }
    if Task.isCancelled {
      _ = record.takeAnswer()
      throw CancellationError()
    }
    return verdict
  }

  /// Takes note that the newest token was revoked, so that what its plugin may still read is kept.
  func noteRevoked(_ index: Int) {
    isContested = true
    isPlain = false
    record.noteRevoked(record.suspended.generation, on: environment(index))
  }

  private func environment(_ index: Int) -> HostEnvironment { row.stages[index].plugin.options.environment }

  /// How long the hook may stay pending: what the manifest allows, and never beyond the request's deadline.
  private func pendingLimit(_ index: Int) -> Duration? {
    let limit = row.stages[index].plugin.options.hookTimeout
    let deadline = record.deadline.load(ordering: .relaxed)
    guard deadline != .max else { return limit }
    let untilDeadline = Duration.nanoseconds(Int64(clamping: deadline) - Int64(clamping: MonotonicClock.nanoseconds))
    return limit.map { min($0, untilDeadline) } ?? untilDeadline
  }

  /// The caller went away while a hook is pending: the plugin is told, and gets a grace to finish.
  private func cancel(_ index: Int, _ generation: UInt32) {
    cancelHook(index)
    let suspended = record.suspended
    suspended.revoke(generation, after: call.limits.cancelGrace, on: environment(index))
  }
}
