internal import CLaboratory
internal import CarabinerHost

extension Check {
  static let freedMemory = Check(
    "ME12", level: 5, "touches no memory it has freed",
    page: Page(
      rule: """
        Memory the plugin has freed it neither reads nor writes nor frees again: in a later hook, in release(), in destroy(), or on a thread of
        its own. Each allocation of the library that goes through libc or operator new has pages of its own here, which are closed when it is
        freed. What Swift's run time allocates is not seen.
        """,
      reason: """
        The allocator gives the memory to the next one who asks: the host, or another plugin. What is read then are their bytes, and what is
        written then breaks them, in another request and at another time.
        """,
      example: """
        on_end:   free(state->name);
        release:  log_name(state->name);  free(state);
        """,
      remedy: "Free everything of a call in release(), and nowhere else. AddressSanitizer shows the lines: cc -fsanitize=address."
    ),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CLaboratory_watchHeap(code, LoadingTrial.isForeign) > 0 else {
        throw TrialNotes.Skip("it imports no allocator")
      }
      for changesThreads in [false, true] {
        try trial.exercise(Exchange.usual, Traveller.Manner(changesThreads: changesThreads))
        trial.laboratory.collectTouches(at: trial.interceptor.id)
      }
      let instance = try trial.instance()
      for stage in trial.stages { LongRun(trial, stage, instance).run(trial.options.times(1000, atLeast: 200)) }
      instance.drain()
      instance.destroy()
      trial.laboratory.collectTouches(at: "\(trial.interceptor.id) destroy")
    })
}

extension Check {
  static let unwrittenMemory = Check(
    "ME13", level: 5, "hands over nothing it has not written",
    page: Page(
      rule: """
        Headers, parts, results, errors, baggage and log lines have no bytes the plugin has never written. Here new memory of malloc(), operator
        new and buf_alloc() is full of the byte 0xA5; four of them in a row in anything that is handed over are such bytes.
        """,
      reason: """
        Memory that is new to the plugin is not new: it has what was in it before, which is other requests with their tokens. In a header it
        goes to whoever is at the other end of the connection.
        """,
      example: """
        char *value = malloc(64);  int n = snprintf(value, 64, "%d", count);
        host->header_set(call, name, (crb_view){ (uint8_t *)value, 64 }, 0);        /* n bytes were written */
        """,
      remedy: "Hand over as many bytes as you have written: (crb_view){ (uint8_t *)value, (size_t)n }."),
    .interceptor { trial in
      if let code = unsafe trial.stages.first?.code { _ = unsafe CLaboratory_watchHeap(code, LoadingTrial.isForeign) }
      trial.laboratory.openLedger()
      try trial.exercise()
      for entry in trial.laboratory.takeLedger() {
        let runs = entry.bytes.split { $0 != UInt8(CLABORATORY_UNWRITTEN) }
        if let run = runs.first(where: { $0.count >= leastUnwritten }) {
          trial.notes.fail(
            "\(entry.name) has \(run.count) bytes that were never written, from byte \(run.startIndex)", at: entry.place)
        }
      }
    })

  /// How many such bytes in a row are no chance.
  private static let leastUnwritten = 4
}
