internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let drainedCalls = Check(
    "LC06", level: 3, "finishes calls in progress after drain()",
    page: Page(
      rule: """
        After drain() no new calls come. Calls in progress continue to their end, with the same verdicts as without drain().
        """,
      reason: """
        Hosts drain the old instance at every reload, while calls are in progress. A reload must not fail them.
        """,
      example: """
        static void drain(void *inst) { ((instance *)inst)->closed = true; }
        on_result: if (i->closed) return CRB_FAIL;
        """,
      remedy: """
        Stop work that is not part of a call: timers, refreshes, threads. Keep what calls in progress need until destroy().
        """),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.drain != nil else { throw TrialNotes.Skip("it has no drain()") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      var isUnderWay = false
      for stage in trial.stages {
        for exchange in Exchange.usual {
          func verdicts(_ drainsAfter: Int?) throws -> [String] {
            let instance = try trial.instance()
            defer { instance.destroy() }
            let count = HookCount()
            var settings = ExchangeRunner.Settings()
            settings.aroundHooks = { isBefore, _ in
              if !isBefore, count.next() == drainsAfter { instance.drain() }
            }
            return trial.travel([exchange], stage, instance, settings)
              .flatMap { $0.steps.map { "\($0.hook.name)=\(Verdict.name($0.verdict))" } }
          }
          let expected = try verdicts(nil)
          guard try verdicts(nil) == expected else { continue }
          for hook in 0..<max(expected.count - 1, 0) {
            isUnderWay = true
            let found = try verdicts(hook)
            trial.notes.expect(
              found == expected,
              "drained after hook \(hook + 1) of \(exchange.name) it answers \(found.joined(separator: " ")) and not \(expected.joined(separator: " "))",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
      }
      if !isUnderWay { throw TrialNotes.Skip("its stages have one hook each, so no call can be in progress at drain()") }
    })
}

extension Check {
  static let destructionAtAnyTime = Check(
    "LC07", level: 3, "can be destroyed at any time of its life",
    page: Page(
      rule: """
        destroy() works on an instance without any call, on an instance that was drained once or twice, and on an instance that
        had calls and was never drained.
        """,
      reason: """
        A refused reload destroys instances that were never used. A process that ends quickly does not drain instances.
        """,
      example: "static void drain(void *inst) { flush(((instance *)inst)->last); }      /* set by the first call */",
      remedy: """
        create() must leave the instance in a state in which drain() and destroy() work, whatever happens in between.
        """),
    .interceptor { trial in
      let calls = [Exchange("a query")]
      let lives: [(String, Bool, Int)] = [
        ("created and destroyed", false, 0), ("created, drained and destroyed", false, 1),
        ("created, drained twice and destroyed", false, 2),
        ("used and destroyed", true, 0), ("used, drained and destroyed", true, 1), ("used, drained twice and destroyed", true, 2),
      ]
      for (name, isUsed, drains) in lives {
        FlightRecord.note(name, inHook: false)
        for _ in 0..<trial.options.times(20, atLeast: 3) {
          let instance = try trial.instance()
          if isUsed { for stage in trial.stages { _ = trial.travel(calls, stage, instance) } }
          for _ in 0..<drains { instance.drain() }
          instance.destroy()
        }
      }
    })
}

extension Check {
  static let releasedCalls = Check(
    "LC08", level: 3, "does not use a call after its release",
    page: Page(
      rule: """
        From release() on, the stage uses nothing of the call: no handle, no token, no view.
        """,
      reason: """
        After release() the host gives the memory of the call to the next one. The host notices a stale handle. It cannot notice
        the use of a view, which then shows the bytes of another request.
        """,
      example: """
        static void release(void *inst, void *state) {
          entry *e = state;
          host->log(self, CRB_LOG_INFO, e->call, text("done"));   /* fine: log takes 0 or a live call; e->call is neither */
          host->header_get(e->call, text("X-Id"), &e->id);        /* the call is over */
          free(e);
        }
        """,
      remedy: "Use the call in on_end, on_error and on_cancel. Only free the state in release()."),
    .interceptor { trial in
      try trial.exercise()
    })
}

extension Check {
  static let processEndInUse = Check(
    "LC09", level: 5, "lets the process end while it is in use",
    page: Page(
      rule: """
        A process that calls exit() with instances alive, undrained, ends within ten seconds and without a crash. Destructors, also of the
        data of a thread, call no function of the host.
        """,
      reason: """
        Programs can end at any moment. Destructors of the library then run while instances still exist and threads still work. A
        destructor that waits for one of them waits forever.
        """,
      example: "__attribute__((destructor)) static void stop(void) { pthread_join(worker, NULL); }",
      remedy: """
        Have no destructors and no atexit(). The kernel frees the memory of the process. Write data in on_end or drain().
        """
    ),
    timeLimit: .seconds(10), endsOrderly: true,
    .interceptor { trial in
      // The check may have run before, for another interceptor of the library.
      trial.testHost.endingThread.store(0, ordering: .relaxed)
      for _ in 0..<3 {
        let instance = try trial.instance()
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      }
      // The destructors of a thread run when it ends.
      TestHostThread {
        try? trial.exercise()
        FlightRecord.note("a thread ends after its hooks", inHook: false)
        trial.testHost.beginEnd()
      }.join()
      FlightRecord.note("the process ends with instances alive", inHook: false)
      trial.testHost.beginEnd()
    })
}

extension Check {
  static let exitHandlers = Check(
    "LC10", level: 5, "registers no exit handlers",
    page: Page(
      rule: """
        create(), hooks and destroy() register no function with atexit(), on_exit(), at_quick_exit() or pthread_atfork(). The
        destructors of static objects in C++ are registered once, and not for each instance.
        """,
      reason: """
        Such a registration cannot be undone. It stays after destroy(), each instance adds one, and the function runs when the
        host ends: beside threads of other plugins, and on freed memory.
        """,
      example: "static crb_status create(…) { atexit(flush); … }",
      remedy: "Flush in drain() or destroy(), while all data still exists."),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CTestHost_watchHandlers(code) > 0 else {
        throw TrialNotes.Skip("it imports no function that registers an exit handler")
      }
      trial.testHost.state.withLock { $0.isGuarded = false }
      func round() throws -> (handlers: UInt64, objects: UInt64) {
        let before = (CTestHost_exitHandlers(), CTestHost_exitObjects())
        try trial.exercise()
        return (CTestHost_exitHandlers() - before.0, CTestHost_exitObjects() - before.1)
      }
      let first = try round()
      let second = try round()
      // C++ registers the destructor of an array of static objects like a function, once.
      let isOfObjects = first.objects > 0 && second.handlers == 0
      if first.handlers + second.handlers > 0, !isOfObjects {
        trial.notes.fail(
          "it registers \(first.handlers + second.handlers) functions to be run at exit or fork, with two instances",
          at: trial.interceptor.id)
      }
      if second.objects > 0 {
        trial.notes.fail("each instance registers \(second.objects) destructors to be run at exit", at: trial.interceptor.id)
      }
    })
}
