internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// Hooks that returned PENDING.
extension GroupCall {
  /// Waits for the verdict of a pending hook.
  ///
  /// - Throws: ``PluginError`` if the plugin broke a rule or took too long; `CancellationError`.
  func completion(_ hook: Hook, at index: Int) async throws -> crb_verdict {
    // If the token was resumed before the hook returned, no timer and no wait is necessary.
    let early = suspended.takeVerdict()
    let verdict = if let early { early } else { try await awaitedVerdict(hook, at: index) }
    guard verdict != Verdict.pending else {
      _ = takeEffects()
      throw PluginError.fault(stages.name(index), hook, "resume() with PENDING")
    }
    return verdict
  }

  /// How often the thread yields before it waits for a pending hook. If no other thread is ready, that takes a few microseconds.
  private static var yieldsBeforeSleep: Int { 10 }

  private func awaitedVerdict(_ hook: Hook, at index: Int) async throws -> crb_verdict {
    let suspended = suspended
    let generation = suspended.generation
    // Checked before a timer can revoke the token: a short limit may do so before the wait begins.
    guard suspended.isArmed else {
      _ = takeEffects()
      throw PluginError.fault(stages.name(index), hook, "PENDING without a token from suspend()")
    }
    // Most plugins that wait for another thread need it for a moment. To yield costs less than to sleep and be woken, which takes two
    // system calls and two hops of the executor.
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
    if Task.isCancelled { stages.unproven.append(index) }
    guard verdict != SuspendedHook.revoked else {
      noteRevoked(index)
      _ = takeEffects()
      try Task.checkCancellation()
      throw PluginError(
        code: .timedOut, entry: stages.name(index), hook: hook.name,
        message: "the hook stayed pending for too long; raise the entry's timeout, or look at what the plugin waits for",
        flags: UInt32(CRB_ERROR_TIMEOUT))
    }
    if Task.isCancelled {
      _ = takeEffects()
      throw CancellationError()
    }
    return verdict
  }

  /// Records that the newest token was revoked. The memory that its plugin may still read is kept.
  func noteRevoked(_ index: Int) {
    stages.contest()
    unsafe stages.plugin(index).remote?.noteRevoked(stages.states[index])
    memory.noteRevoked(token(suspended.generation), on: environment(index))
  }

  private func environment(_ index: Int) -> HostEnvironment { stages.plugin(index).options.environment }

  /// How long the hook may stay pending: the limit of the manifest, and at most until the request's deadline.
  private func pendingLimit(_ index: Int) -> Duration? {
    let limit = stages.plugin(index).options.hookTimeout
    let deadline = deadline.load(ordering: .relaxed)
    guard deadline != .max else { return limit }
    let untilDeadline = Duration.nanoseconds(Int64(clamping: deadline) - Int64(clamping: MonotonicClock.nanoseconds))
    return limit.map { min($0, untilDeadline) } ?? untilDeadline
  }

  /// The caller left while a hook is pending. The plugin gets `on_cancel` and a grace to finish.
  private func cancel(_ index: Int, _ generation: UInt32) {
    cancelHook(index)
    let suspended = suspended
    suspended.revoke(generation, after: stages.limits.cancelGrace, on: environment(index))
  }
}
