internal import CarabinerHost

extension Check {
  static let me04 = Check(
    "ME04", level: 5, "reads views while it waits, and not after resume()",
    page: Page(
      rule:
        "While a hook is pending, what it was lent may be read, from any thread. resume() ends that, even before the hook has returned.",
      reason:
        "resume() lets the host go on at once, on another thread; it gives the memory to the next call while the plugin still reads.",
      example: """
        host->resume(w->token, CRB_CONTINUE);
        remember(w->cache, w->result->json);          /* too late */
        """,
      remedy: """
        remember(w->cache, w->result->json);
        host->resume(w->token, CRB_CONTINUE);         /* the last thing that is done */
        """),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      let passages = trial.stages.flatMap { trial.travel(Exchange.usual, $0, instance) }
      // The thread that resumed may still be at it.
      _ = trial.laboratory.resumed.wait(.milliseconds(50)) { false }
      trial.laboratory.collectTouches(at: trial.interceptor.id)
      guard passages.contains(where: { $0.steps.contains(where: \.wasPending) }) else {
        throw TrialNotes.Skip("no hook of it was pending")
      }
    })
}
