extension Check {
  static let hr03 = Check(
    "HR03", level: 6, "can be loaded a hundred times",
    page: Page(
      rule: """
        A hundred copies, each loaded, registered, created, used and destroyed before the next, all work. More than 4 MiB and twice the size
        of the file for each of them is a warning.
        """,
      reason:
        "Libraries are never unmapped. What each copy takes of things a process has few of, keys of threads or static thread memory, is gone.",
      example:
        "__attribute__((constructor)) static void start(void) { for (int i = 0; i < 64; i++) pthread_key_create(&keys[i], free); }",
      remedy:
        "Take such things when they are needed first, and give them back with the last instance; or keep what they hold in the instance."
    ),
    timeLimit: .seconds(180),
    .loading { trial in
      let count = trial.options.times(100, atLeast: 24)
      for interceptor in try trial.interceptors(of: trial.library()) { try interceptor.exercise([Exchange("a query")]) }
      let before = ProcessState.now.memory
      for generation in 2...count {
        LaboratoryRecord.note("generation \(generation)", inHook: false)
        do {
          let path = try trial.copy(named: "generation-\(generation)")
          for interceptor in try trial.interceptors(of: trial.library(of: path)) {
            try interceptor.exercise([Exchange("a query")])
          }
        } catch let skip as TrialNotes.Skip {
          return trial.notes.fail("generation \(generation) does not work: \(skip.reason)")
        }
      }
      let growth = (ProcessState.now.memory - before) / (count - 1)
      if growth > 4 << 20 + 2 * trial.bytes.count {
        trial.notes.warn("each generation takes \(growth >> 10) KiB of memory for good")
      }
    })
}
