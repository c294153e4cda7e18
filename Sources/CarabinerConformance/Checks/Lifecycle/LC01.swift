internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc01 = Check(
    "LC01", level: 3, "can be created and destroyed a thousand times",
    page: Page(
      rule:
        """
        After 1,000 instances were created and destroyed the process has no more memory, mappings, descriptors, threads or thread keys than
        after the first 100.
        """,
      reason: "A host creates new instances at every reload of its manifest, and runs for months.",
      example: """
        static void destroy(void *inst) { instance *i = inst; free(i); }   /* i->log was opened in create() */
        """,
      remedy:
        "Give back in destroy() what create() took, in the opposite order; release handles of timers and threads, and join the latter."
    ),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      func cycle(_ count: Int) throws { for _ in 0..<count { try trial.instance().destroy() } }
      let count = trial.options.times(1000, atLeast: 200)
      try cycle(count / 10)
      let growth = Growth()
      try cycle(count)
      for problem in growth.problems() { trial.notes.fail("\(count) instances left \(problem) behind", at: trial.interceptor.id) }
    })
}
