internal import CarabinerHost

extension Check {
  static let th08 = Check(
    "TH08", level: 7, "holds no lock when a hook returns",
    page: Page(
      rule: "Every mutex a hook locks it unlocks before it returns.",
      reason: "The next hook may come on another thread, or not at all: then the lock is held for ever.",
      example: #"""
        static crb_verdict on_request(…) { pthread_mutex_lock(&lock); return CRB_CONTINUE; }        /* on_end unlocks */
        """#,
      remedy: "Lock and unlock in the same function."),
    .interceptor { trial in
      let watch = LockWatch()
      guard watch.begin(trial.stages.first) else { throw TrialNotes.Skip("it imports no mutex of libc") }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in
          if let held = watch.note(isBefore) {
            trial.notes.fail("\(hook.name) returns with \(held) locks held", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
        _ = trial.travel(Exchange.usual, stage, instance, manner)
      }
    })
}
