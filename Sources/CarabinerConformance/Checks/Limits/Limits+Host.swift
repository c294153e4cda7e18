internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let staleHandles = Check(
    "HI05", level: 5, "survives stale handles",
    page: Page(
      rule: """
        At some moment every function that takes a handle answers CRB_E_STALE, or 0, or no bytes. The stage stops, frees its own
        memory, and answers. It neither crashes nor repeats the call forever.
        """,
      reason: """
        A call may end on another thread between two lines of a plugin: it was cancelled, its time is over, or its token was
        revoked. The handle is then stale, so a late plugin cannot touch the memory of another call.
        """,
      example: "while (host->emit(call, CRB_EMIT_RESULT, bytes, 0) != CRB_OK) host->buf_retain(bytes);",
      remedy: "Treat CRB_E_STALE as the end of the call: clean up and return CRB_FAIL. A repeated call fails again."),
    .interceptor { trial in
      let handles: [HostSlot] = [
        .bufSlice, .bufView, .scratch, .suspend, .cancelled, .attempt, .emit, .setError, .setRetry, .setHead, .operationType,
        .requestID,
        .headers, .headerGet, .headerSet, .fieldGet, .fieldSet, .bagGet, .bagSet,
      ]
      for quota in 0..<trial.options.times(12, atLeast: 3) {
        let instance = try trial.instance()
        trial.testHost.state.withLock { state in
          for slot in handles { state.faults.fail(slot, with: Status.stale, after: quota) }
        }
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
        trial.testHost.state.withLock { $0.faults.clear() }
        instance.destroy()
      }
    })
}

extension Check {
  static let usedUpQuota = Check(
    "HI07", level: 5, "continues when a quota is used up",
    page: Page(
      rule: """
        Bytes, scratch memory, timers, requests, store operations, keys and staged elements are limited. If a limit is reached,
        the function answers CRB_E_LIMIT, 0 or NULL. The stage then continues without it, or ends the call with an error, and
        works again in the next call.
        """,
      reason: """
        Operators set limits, and hosts reach them under high load. A plugin that stops working then makes the outage worse.
        """,
      example: "crb_timer t = timer->arm(self, delay, fire, state);  wait_for_ever(state);",
      remedy: "if (!t) { host->set_error(call, &no_timer); return CRB_FAIL; }"),
    .interceptor { trial in
      let limited: [HostSlot] = [
        .bufAlloc, .bufAdopt, .scratch, .timerArm, .fetchStart, .storeLoad, .storePublish, .storeRemove, .storeRemoveMatching,
        .emit, .key,
        .headerSet, .bagSet,
      ]
      let instance = try trial.instance()
      defer { instance.destroy() }
      let stages = trial.stages
      let able = stages.filter { trial.travel([Exchange("a query before any limit")], $0, instance)[0].verdict != Verdict.fail }
      for slot in limited {
        for quota in [0, 1, 2, 5, 20].prefix(trial.options.times(5)) {
          trial.testHost.state.withLock { state in
            state.faults.fail(slot, with: slot.answersStatus ? Status.limit : Status.noMemory, after: quota)
          }
          for stage in stages { _ = trial.travel(Exchange.usual, stage, instance) }
          trial.testHost.state.withLock { $0.faults.clear() }
        }
      }
      // The limits are removed now.
      for stage in able {
        for passage in trial.travel([Exchange("a query after all limits")], stage, instance) {
          trial.notes.expect(
            passage.verdict != Verdict.fail, "it fails a call that it answered before, although no limit is reached any more",
            at: trial.interceptor.id)
        }
      }
    })
}
