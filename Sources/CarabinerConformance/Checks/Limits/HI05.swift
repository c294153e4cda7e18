internal import CarabinerHost
internal import Synchronization

extension Check {
  static let hi05 = Check(
    "HI05", level: 5, "takes a stale handle for the end of it",
    page: Page(
      rule: """
        From some moment on every function that takes a handle answers CRB_E_STALE, or 0, or no bytes. The stage stops, frees what is its own,
        and answers; it neither crashes nor tries for ever.
        """,
      reason: """
        A call may end on another thread between two lines of a plugin: cancelled, out of time, its token revoked. The handle is stale then,
        which is how the host keeps a late plugin from touching what is not there any more.
        """,
      example: "while (host->emit(call, CRB_EMIT_RESULT, bytes, 0) != CRB_OK) host->buf_retain(bytes);",
      remedy: "Treat CRB_E_STALE as \"nobody listens\": clean up and return CRB_FAIL. No retry helps."),
    .interceptor { trial in
      let handles: [HostSlot] = [
        .bufSlice, .bufView, .scratch, .suspend, .cancelled, .attempt, .emit, .setError, .setRetry, .setHead, .operationType,
        .requestID,
        .headers, .headerGet, .headerSet, .fieldGet, .fieldSet, .bagGet, .bagSet,
      ]
      for quota in 0..<trial.options.times(12, atLeast: 3) {
        let instance = try trial.instance()
        trial.laboratory.state.withLock { state in
          for slot in handles { state.faults.fail(slot, with: Status.stale, after: quota) }
        }
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
        trial.laboratory.state.withLock { $0.faults.clear() }
        instance.destroy()
      }
    })
}
