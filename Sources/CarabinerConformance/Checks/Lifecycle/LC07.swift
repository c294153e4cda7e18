extension Check {
  static let lc07 = Check(
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
