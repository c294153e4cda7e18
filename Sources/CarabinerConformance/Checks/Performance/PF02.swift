internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let pf02 = Check(
    "PF02", level: 9, "makes no system calls in hooks that do not wait",
    page: Page(
      rule: "A hook that answers at once makes no system call. Each kind of hook that does is a warning.",
      reason:
        "A system call costs as much as a hundred hooks, and any of them may wait: for a disk, for a lock of the kernel, for memory.",
      example: "crb_verdict on_result(…) { fprintf(file, \"%u\\n\", count); fflush(file); … }",
      remedy:
        "Log with host->log(); the host writes where nobody waits. Ask for the time with clock_gettime(), which is no system call. Write files on a thread of your own."
    ),
    .interceptor { trial in
      let counter = SystemCallCounter()
      guard counter.isPossible else { throw TrialNotes.Skip("this kernel or machine cannot tell the system calls of a thread") }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        _ = trial.travel(Exchange.usual, stage, instance)
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in if isBefore { counter.begin() } else { counter.end(hook) } }
        for passage in trial.travel(Exchange.usual, stage, instance, manner) {
          for step in passage.steps where step.wasPending { counter.forgive(step.hook) }
        }
        for (hook, call) in counter.take() {
          trial.notes.warn(
            "\(hook.name) makes system calls; the first is \(SystemCall.name(of: call))",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
