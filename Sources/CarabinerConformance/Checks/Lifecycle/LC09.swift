extension Check {
  static let lc09 = Check(
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
