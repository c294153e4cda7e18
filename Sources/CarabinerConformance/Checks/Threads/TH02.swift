internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let th02 = Check(
    "TH02", level: 7, "stands sixteen threads at once",
    page: Page(
      rule: #"""
        An interceptor of the thread class CONCURRENT gives the same answers when sixteen threads send calls through one instance. Run it in a build with ThreadSanitizer, too.
        """#,
      reason: #"""
        CONCURRENT says that hooks of different calls overlap. State of the instance without a lock is then changed by two at once.
        """#,
      example: "instance->count++;            /* read by another thread at the same moment */",
      remedy: "Use atomics or a lock for what instances share, or declare SERIAL or PER_CALL."),
    timeLimit: .seconds(180),
    .interceptor { trial in
      guard trial.interceptor.threadClass == UInt32(CRB_THREADS_CONCURRENT) else {
        throw TrialNotes.Skip("it does not declare CONCURRENT")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let varies = trial.options.capabilities.contains("varies")
      let rounds = trial.options.times(100, atLeast: 10)
      for stage in trial.stages {
        let instance = try trial.instance()
        defer { instance.destroy() }
        // A cache answers otherwise once it is filled, so what is compared is what it answers then.
        _ = trial.travel(Exchange.usual, stage, instance)
        let expected = trial.travel(Exchange.usual, stage, instance).map(\.fingerprint)
        let crowd = (0..<16).map { _ in
          LaboratoryThread {
            for _ in 0..<rounds {
              for (index, passage) in trial.travel(Exchange.usual, stage, instance).enumerated()
              where !varies && passage.fingerprint != expected[index] {
                trial.notes.fail(
                  "it answers otherwise among many threads: \(Exchange.usual[index].name)",
                  at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
              }
            }
          }
        }
        for thread in crowd { thread.join() }
      }
    })
}
