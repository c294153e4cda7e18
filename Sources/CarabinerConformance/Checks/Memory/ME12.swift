internal import CLaboratory
internal import CarabinerHost

extension Check {
  static let me12 = Check(
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
