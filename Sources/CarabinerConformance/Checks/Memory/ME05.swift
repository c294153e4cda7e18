internal import CarabinerHost
internal import Synchronization

extension Check {
  static let me05 = Check(
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
