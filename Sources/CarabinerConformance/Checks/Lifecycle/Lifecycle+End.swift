internal import CCarabiner
internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let drainedCalls = Check(
    "LC06", level: 3, "finishes calls that are under way when it is drained",
    page: Page(
      rule:
        "After drain() no new calls come; those under way go on to their end as if nothing had happened, with the same verdicts.",
      reason:
        "Hosts drain the old instance at every reload, while its calls are still on their way. Their callers know nothing of manifests.",
      example: """
        static void drain(void *inst) { ((instance *)inst)->closed = true; }
        on_result: if (i->closed) return CRB_FAIL;
        """,
      remedy: "Stop what is not part of a call: timers, refreshes, threads. What calls under way need stays until destroy()."),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.drain != nil else { throw TrialNotes.Skip("it has no drain()") }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      var isUnderWay = false
      for stage in trial.stages {
        for exchange in Exchange.usual {
          func verdicts(_ drainsAfter: Int?) throws -> [String] {
            let instance = try trial.instance()
            defer { instance.destroy() }
            let count = HookCount()
            var manner = Traveller.Manner()
            manner.aroundHooks = { isBefore, _ in
              if !isBefore, count.next() == drainsAfter { instance.drain() }
            }
            return trial.travel([exchange], stage, instance, manner)
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
      if !isUnderWay { throw TrialNotes.Skip("its stages have one hook each, so no call is under way when it is drained") }
    })
}

extension Check {
  static let destructionAtAnyTime = Check(
    "LC07", level: 3, "can be destroyed at any time of its life",
    page: Page(
      rule: """
        destroy() works on an instance that saw no call, on one that was drained without ever seeing a call, on one that was drained twice, and
        on one that worked and was never drained.
        """,
      reason:
        "A reload that is refused half-way destroys instances nobody ever used; a process that ends in a hurry drains nothing.",
      example: "static void drain(void *inst) { flush(((instance *)inst)->last); }      /* set by the first call */",
      remedy: "Let create() bring the instance into a state that destroy() and drain() can work with, whatever came between."),
    .interceptor { trial in
      let calls = [Exchange("a query")]
      let lives: [(String, Bool, Int)] = [
        ("created and destroyed", false, 0), ("created, drained and destroyed", false, 1),
        ("created, drained twice and destroyed", false, 2),
        ("used and destroyed", true, 0), ("used, drained and destroyed", true, 1), ("used, drained twice and destroyed", true, 2),
      ]
      for (name, isUsed, drains) in lives {
        LaboratoryRecord.note(name, inHook: false)
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
    "LC08", level: 3, "leaves a call alone once it is released",
    page: Page(
      rule: """
        A stage that ever set its state to anything but NULL has a release(), which frees that state; after it nothing of the call is
        used: no handle, no token, no view.
        """,
      reason: """
        After release() the host gives the memory of the call to the next one. A handle is then stale, which the host notices; a view is
        somebody else's bytes, which nobody notices.
        """,
      example: """
        static void release(void *inst, void *state) {
          entry *e = state;
          host->log(self, CRB_LOG_INFO, e->call, text("done"));   /* fine: log takes 0 or a live call; e->call is neither */
          host->header_get(e->call, text("X-Id"), &e->id);        /* the call is over */
          free(e);
        }
        """,
      remedy: "Do in on_end, on_error and on_cancel what needs the call; in release() free, and nothing else."),
    .interceptor { trial in
      try trial.exercise()
    })
}

extension Check {
  static let processEndInUse = Check(
    "LC09", level: 5, "lets the process end while it is in use",
    page: Page(
      rule: "A process that calls exit() with instances alive, undrained, ends within ten seconds and without a crash.",
      reason: """
        Programs end where they stand. Destructors of the library then run beside instances that are still there, and beside threads that
        still work: whoever waits for one of them there waits for ever.
        """,
      example: "__attribute__((destructor)) static void stop(void) { pthread_join(worker, NULL); }",
      remedy:
        "Have no destructors and no atexit(). The memory goes with the process; what has to be written, write in on_end or drain()."
    ),
    timeLimit: .seconds(10), endsOrderly: true,
    .interceptor { trial in
      for _ in 0..<3 {
        let instance = try trial.instance()
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      }
      LaboratoryRecord.note("the process ends with instances alive", inHook: false)
    })
}

extension Check {
  static let exitHandlers = Check(
    "LC10", level: 5, "leaves nothing to be run when the process ends",
    page: Page(
      rule: """
        create(), hooks and destroy() register no function with atexit(), on_exit(), at_quick_exit() or pthread_atfork(). The destructors of
        static objects that C++ registers are registered once, and not with each instance.
        """,
      reason: """
        There is no way to take such a function back. After destroy() it is still there, with each instance there is one more, and it runs when
        the host ends: beside threads of other plugins, on memory that was freed long ago.
        """,
      example: "static crb_status create(…) { atexit(flush); … }",
      remedy: "Flush in drain() or destroy(), which are called while everything is still there."),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CLaboratory_watchHandlers(code) > 0 else {
        throw TrialNotes.Skip("it imports no function that registers one")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      func round() throws -> (handlers: UInt64, objects: UInt64) {
        let before = (CLaboratory_exitHandlers(), CLaboratory_exitObjects())
        try trial.exercise()
        return (CLaboratory_exitHandlers() - before.0, CLaboratory_exitObjects() - before.1)
      }
      let first = try round()
      let second = try round()
      // An array of static objects is registered like a function, once.
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
