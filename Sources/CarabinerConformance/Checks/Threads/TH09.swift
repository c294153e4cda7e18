internal import CarabinerHost

extension Check {
  static let th09 = Check(
    "TH09", level: 5, "leaves the process as it was",
    page: Page(
      rule: #"""
        Locale, rounding mode, signal mask, working directory and umask are the same after create(), every hook and destroy().
        """#,
      reason: #"""
        They belong to the whole process: a comma for a decimal point, a relative path that leads elsewhere, a signal that no longer comes.
        """#,
      example: #"""
        setlocale(LC_ALL, "");
        """#,
      remedy: #"""
        Use functions that take what they need (strtod_l, openat, uselocale for this thread and back).
        """#),
    .interceptor { trial in
      // With its first thread libc takes a signal for itself.
      LaboratoryThread {}.join()
      let before = Surroundings.now
      @Sendable func look(_ place: String) {
        for difference in Surroundings.now.differences(from: before) { trial.notes.fail(difference, at: place) }
      }
      let instance = try trial.instance()
      look("\(trial.interceptor.id) create")
      for stage in trial.stages {
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in
          if !isBefore { look("\(trial.interceptor.id) \(stage.kind.rawValue).\(hook.name)") }
        }
        _ = trial.travel(Exchange.usual, stage, instance, manner)
      }
      instance.destroy()
      look("\(trial.interceptor.id) destroy")
    })
}
