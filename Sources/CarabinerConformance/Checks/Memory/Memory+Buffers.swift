internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let bufferReferences = Check(
    "ME05", level: 3, "gives back every buffer, once",
    page: Page(
      rule: """
        Each reference is given up once: by buf_release(), or by handing it to emit() or field_set(), which take it also when they fail.
        When the instance is destroyed no buffer of its calls is left.
        """,
      reason: """
        A buffer that is never released counts against the plugin's quota until buf_alloc answers 0. One that is released twice takes
        a reference that belongs to somebody else.
        """,
      example: """
        if (host->emit(call, CRB_EMIT_RESULT, buffer, 0) != CRB_OK) { host->buf_release(buffer); return CRB_FAIL; }     /* twice */
        """,
      remedy: "if (host->emit(call, CRB_EMIT_RESULT, buffer, 0) != CRB_OK) return CRB_FAIL;"),
    .interceptor { trial in
      func left() -> Int { trial.laboratory.state.withLock { $0.buffers.count } }
      func round() throws -> Int {
        try trial.exercise()
        // What a thread of its own still holds, it may give back a little later.
        _ = trial.laboratory.resumed.wait(.milliseconds(200)) { left() == 0 }
        return left()
      }
      // The first round makes what the library keeps for all instances.
      let first = try round()
      let more = try (0..<3).map { _ in try round() }.last ?? first
      trial.notes.expect(
        more <= first, "\(more - first) buffers are left after three instances with \(Exchange.usual.count) calls each",
        at: trial.interceptor.id)
      let used = trial.laboratory.state.withLock { $0.buffers.made }
      if used == 0 { throw TrialNotes.Skip("it uses no buffers") }
    })
}

extension Check {
  static let adoptedBytes = Check(
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

extension Check {
  static let ownFrees = Check(
    "ME10", level: 3, "frees what is its own",
    page: Page(
      rule: "Memory of the host, the bytes of buf_alloc() and of scratch(), is never given to free() or operator delete.",
      reason:
        "The host has an allocator of its own, and frees it when its time has come: for the second time, if the plugin was faster.",
      example: "char *copy = host->scratch(call, n, 1); … free(copy);",
      remedy: "Nothing: scratch memory goes with the call. A buffer is given back with buf_release()."),
    .interceptor { trial in
      let code = unsafe trial.stages.first?.code
      guard let code = unsafe code, unsafe CLaboratory_watchFrees(code, LoadingTrial.isForeign) > 0 else {
        throw TrialNotes.Skip("it imports neither free() nor operator delete")
      }
      try trial.exercise()
    })
}
