internal import CTestHost
internal import CarabinerBridge

extension Check {
  static let viewBounds = Check(
    "ME01", level: 3, "does not read beyond a view",
    page: Page(
      rule: "The plugin reads and writes no byte outside of a view, and does not use a view as a C string.",
      reason: """
        A view is a slice of a larger buffer. After its end there are bytes of other data, or no mapped memory. There is no NUL at
        its end.
        """,
      example: "strlen((const char *)view.ptr)",
      remedy: "Use view.len. To pass a view to a function that needs a C string, copy it and add the NUL."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      let exchanges = Exchange.usual + Exchange.varied(trial.words) + ParserTrial(trial).inPieces
      try trial.exercise(exchanges)
      // Views now begin at the start of a page, so that a read before a view is detected.
      CTestHost_placeRegions(1)
      defer { CTestHost_placeRegions(0) }
      try trial.exercise(exchanges)
    })
}

extension Check {
  static let readOnlyViews = Check(
    "ME02", level: 3, "does not write to views",
    page: Page(
      rule: "Views and events are read-only. Change them with header_set(), field_set() and emit().",
      reason: "Other code may read the bytes at the same time, or the memory may be write-protected.",
      example: "((uint8_t *)chunk->bytes.ptr)[0] = ' ';",
      remedy: "Copy the bytes into a buffer of buf_alloc(), change the copy, and stage it."),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let expiredViews = Check(
    "ME03", level: 3, "does not use views after the hook has completed",
    page: Page(
      rule: """
        After a hook has completed, by its verdict or by resume(), the plugin uses none of its views and events: not in the next
        hook, and not thousands of calls later.
        """,
      reason: """
        The host gives the memory to the next call. A late read returns bytes of another request, for example the token of another
        user.
        """,
      example: "state->path = head->url;      /* used in on_chunk */",
      remedy: "Copy the bytes that you need later, or ask for them again in the later hook."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      try trial.exercise(Exchange.usual + ParserTrial(trial).inPieces)
      for stage in trial.stages {
        let instance = try trial.instance()
        WarpedTime(stage).run { _ = trial.travel(Exchange.usual, stage, instance) }
        instance.destroy()
      }
      // An instance may keep a view and use it much later.
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages { LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 2500)) }
    })
}

extension Check {
  static let viewsWhileWaiting = Check(
    "ME04", level: 5, "reads views while it waits, and not after resume()",
    page: Page(
      rule: """
        While a hook is pending, any thread may read its views. This ends with resume(), even before the hook has returned.
        """,
      reason: """
        After resume() the host continues at once, on another thread. It gives the memory to the next call while the plugin still
        reads.
        """,
      example: """
        host->resume(w->token, CRB_CONTINUE);
        remember(w->cache, w->result->json);          /* too late */
        """,
      remedy: """
        remember(w->cache, w->result->json);
        host->resume(w->token, CRB_CONTINUE);         /* nothing after this */
        """),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      let passages = trial.stages.flatMap { trial.travel(Exchange.usual, $0, instance) }
      // The thread that resumed may still run.
      _ = trial.testHost.resumed.wait(.milliseconds(50)) { false }
      trial.testHost.collectTouches(at: trial.interceptor.id)
      guard passages.contains(where: { $0.steps.contains(where: \.wasPending) }) else {
        throw TrialNotes.Skip("none of its hooks was pending")
      }
    })
}
