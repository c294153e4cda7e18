internal import CarabinerHost

extension Check {
  static let viewBounds = Check(
    "ME01", level: 3, "reads no further than a view goes",
    page: Page(
      rule: "No byte outside of a view is read or written; no view is taken for a C string.",
      reason:
        "A view is a slice of a larger buffer: behind it stand the bytes of somebody else, or no memory at all. There is no NUL behind it.",
      example: "strlen((const char *)view.ptr)",
      remedy: "Use view.len. To hand a view to a function that wants a C string, copy it and add the NUL."),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let readOnlyViews = Check(
    "ME02", level: 3, "does not write into what it was lent",
    page: Page(
      rule: "Views and events are for reading. They are changed with header_set(), field_set() and emit().",
      reason: "The bytes may stand in memory that others read at the same time, or that cannot be written to.",
      example: "((uint8_t *)chunk->bytes.ptr)[0] = ' ';",
      remedy: "Copy what is to be changed into a buffer of buf_alloc(), and stage it."),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let expiredViews = Check(
    "ME03", level: 3, "forgets what it was lent when the hook completes",
    page: Page(
      rule: """
        After a hook completed, by its verdict or by resume(), nothing it was lent is touched: no view, no event; not in the next hook, and not
        thousands of calls later.
        """,
      reason:
        "The host gives the memory to the next call. Reading it late gives another request's bytes, which is how a token of one user gets to another.",
      example: "state->path = head->url;      /* used in on_chunk */",
      remedy: "Copy what is needed later, or ask for it again in the later hook."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      try trial.exercise()
      // A view that is kept in the instance is perhaps used an hour later.
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages { LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 2500)) }
    })
}

extension Check {
  static let viewsWhileWaiting = Check(
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
