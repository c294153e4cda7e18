internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let freedMemory = Check(
    "ME12", level: 5, "does not use memory after free()",
    page: Page(
      rule: """
        The plugin neither reads nor writes nor frees memory that it has freed: in a later hook, in release(), in destroy(), in a timer
        that is still armed then or that has just begun when it is cancelled, in a hook beside on_cancel, or on its own threads. In this check each allocation of the library by libc or operator new has its own pages, which become
        inaccessible at free(). Allocations of Swift's run time are not checked.
        """,
      reason: """
        The allocator gives the memory to the next caller: the host, or another plugin. The plugin then reads their bytes, or
        overwrites them, in another request and at another time.
        """,
      example: """
        on_end:   free(state->name);
        release:  log_name(state->name);  free(state);
        """,
      remedy: "Free everything of a call in release(), and nowhere else. AddressSanitizer shows the lines: cc -fsanitize=address."
    ),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CTestHost_watchHeap(code, LoadingTrial.isForeign) > 0 else {
        throw TrialNotes.Skip("it imports no allocator")
      }
      for changesThreads in [false, true] {
        try trial.exercise(Exchange.usual, ExchangeRunner.Settings(changesThreads: changesThreads))
        trial.testHost.collectTouches(at: trial.interceptor.id)
      }
      try cancelsWhileRunning(trial)
      // The first of two instances must not free memory that both share.
      let (first, second) = (try trial.instance(), try trial.instance())
      for instance in [first, second] { for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) } }
      first.destroy()
      for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, second) }
      second.destroy()
      trial.testHost.collectTouches(at: trial.interceptor.id)
      let instance = try trial.instance()
      for stage in trial.stages { LongRun(trial, stage, instance).run(trial.options.times(1000, atLeast: 200)) }
      instance.drain()
      instance.destroy()
      trial.testHost.collectTouches(at: "\(trial.interceptor.id) destroy")
      // Services may call back for requests that were made before destroy().
      trial.testHost.timers.doHeld()
      trial.testHost.collectTouches(at: "\(trial.interceptor.id), in a callback after destroy()")
    })
}

extension Check {
  /// Cancels calls while a hook reads its event, and timers that have just begun.
  private static func cancelsWhileRunning(_ trial: InterceptorTrial) throws {
    let page = Exchange("an error page in two chunks") {
      $0.head.status = 503
      $0.head.headers = [HeaderSample(name: "Content-Type", value: "text/html")]
      $0.chunks = [Array("<html><body>Service ".utf8), Array("unavailable</body></html>".utf8)]
      $0.isMalformed = true
    }
    for hook in [Hook.onResult, .onWrite, .onHead, .onChunk, .onError] {
      var settings = ExchangeRunner.Settings()
      settings.cancelsAtRead = hook
      try trial.exercise(Exchange.usual + [page], settings)
      trial.testHost.collectTouches(at: "\(trial.interceptor.id), in \(hook.name) beside on_cancel")
    }
    let timers = trial.testHost.timers
    let instance = try trial.instance()
    timers.beginAtCancel(true)
    for stage in trial.stages { _ = trial.travel([Exchange("a query"), .mutation, .unavailable], stage, instance) }
    timers.waitForBegun()
    let place = "\(trial.interceptor.id), in a timer that had begun when"
    trial.testHost.collectTouches(at: "\(place) it was cancelled")
    // The timers of the instance itself.
    instance.destroy()
    timers.waitForBegun()
    timers.beginAtCancel(false)
    trial.testHost.collectTouches(at: "\(place) destroy() cancelled it")
  }

  static let unwrittenMemory = Check(
    "ME13", level: 5, "passes no uninitialized memory to the host",
    page: Page(
      rule: """
        Headers, parts, results, errors, baggage and log lines contain no bytes that the plugin has never written. In this check
        new memory of malloc(), operator new and buf_alloc() is filled with the byte 0xA5. Four such bytes in a row in data for
        the host break the rule.
        """,
      reason: """
        New memory contains data of earlier owners, such as tokens of other requests. In a header that data leaves the process.
        """,
      example: """
        char *value = malloc(64);  int n = snprintf(value, 64, "%d", count);
        host->header_set(call, name, (crb_view){ (uint8_t *)value, 64 }, 0);        /* n bytes were written */
        """,
      remedy: "Pass only as many bytes as you have written: (crb_view){ (uint8_t *)value, (size_t)n }."),
    .interceptor { trial in
      if let code = unsafe trial.stages.first?.code { _ = unsafe CTestHost_watchHeap(code, LoadingTrial.isForeign) }
      trial.testHost.openLedger()
      try trial.exercise()
      for entry in trial.testHost.takeLedger() {
        let runs = entry.bytes.split { $0 != UInt8(CTESTHOST_UNWRITTEN) }
        if let run = runs.first(where: { $0.count >= leastUnwritten }) {
          trial.notes.fail(
            "\(entry.name) has \(run.count) bytes that were never written, from byte \(run.startIndex)", at: entry.place)
        }
      }
    })

  /// The number of such bytes in a row that counts as unwritten memory. Fewer may be a coincidence.
  private static let leastUnwritten = 4
}
