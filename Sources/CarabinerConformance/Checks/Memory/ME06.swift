internal import CarabinerHost
internal import Synchronization

extension Check {
  static let me06 = Check(
    "ME06", level: 5, "leaves adopted bytes alone until they are dropped",
    page: Page(
      rule: """
        Bytes given to buf_adopt() stay as they are until drop(user) runs; that may be on any thread, and after the call, and the instance, are
        gone.
        """,
      reason: """
        The host sends them when the network takes them, and keeps them as long as somebody reads the result. A drop function that needs
        the instance, or bytes that live in the call's state, are used when both are freed.
        """,
      example: "host->buf_adopt(self, state->text, state->length, nothing, NULL);       /* release() frees the state */",
      remedy:
        "host->buf_adopt(self, text, length, free, text);                        /* the bytes live until they are dropped */"),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.buffers.keepsAdopted = true }
      try trial.exercise()
      let kept = trial.laboratory.state.withLock { state in
        defer { state.buffers.kept = [] }
        return state.buffers.kept
      }
      guard !kept.isEmpty else { throw TrialNotes.Skip("it hands no bytes of its own to the host") }
      let changed = kept.count { !$0.isUnchanged }
      trial.notes.expect(
        changed == 0, "\(changed) of \(kept.count) adopted pieces were changed or freed before they were dropped",
        at: trial.interceptor.id)
      LaboratoryRecord.note("dropping adopted bytes late, on another thread", inHook: false)
      trial.laboratory.enter("\(trial.interceptor.id) the drop function of buf_adopt")
      LaboratoryThread { for release in kept { release.perform() } }.join()
      trial.laboratory.leave()
    })
}
