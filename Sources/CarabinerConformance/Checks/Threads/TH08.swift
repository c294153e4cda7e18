internal import CarabinerHost

extension Check {
  static let th08 = Check(
    "TH08", level: 7, "holds no lock when a hook returns",
    page: Page(
      rule: """
        Every lock a function of the plugin takes it gives back before it returns: mutexes, read-write locks, spin locks and locks of files of
        libc, in create(), hooks, release() and destroy(), in each of 5,000 calls.
        """,
      reason: "The next hook may come on another thread, or not at all: then the lock is held for ever.",
      example: #"""
        static crb_verdict on_request(…) { pthread_mutex_lock(&lock); return CRB_CONTINUE; }        /* on_end unlocks */
        """#,
      remedy: "Lock and unlock in the same function."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let watch = LockWatch()
      guard watch.begin(trial.stages.first) else { throw TrialNotes.Skip("it imports no locks of libc") }
      let id = trial.interceptor.id
      @Sendable func look(_ place: String) {
        if let held = watch.note(false) { trial.notes.fail("it returns with \(held) locks held", at: place) }
      }
      _ = watch.note(true)
      let instance = try trial.instance()
      look("\(id) create")
      for stage in trial.stages {
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in
          if isBefore { _ = watch.note(true) } else { look("\(id) \(stage.kind.rawValue).\(hook.name)") }
        }
        let start = watch.held
        LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 1500), manner)
        if watch.held > start, trial.notes.findings.isEmpty {
          trial.notes.fail("release() or on_cancel keeps \(watch.held - start) locks", at: "\(id) \(stage.kind.rawValue)")
        }
      }
      _ = watch.note(true)
      instance.destroy()
      look("\(id) destroy")
    })
}
