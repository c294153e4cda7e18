internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc06 = Check(
    "LC06", level: 3, "finishes calls that are under way when it is drained",
    page: Page(
      rule:
        "After drain() no new calls come; those under way go on to their end as if nothing had happened, with the same verdicts.",
      reason:
        "Hosts drain the old instance at every reload, while its calls are still on their way. Their callers know nothing of manifests.",
      example: """
        static void drain(void *inst) { ((instance *)inst)->closed = true; }
        on_result: if (i->closed) return CRB_FAIL;
        """,
      remedy: "Stop what is not part of a call: timers, refreshes, threads. What calls under way need stays until destroy()."),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.drain != nil else { throw TrialNotes.Skip("it has no drain()") }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      var isUnderWay = false
      for stage in trial.stages {
        for exchange in Exchange.usual {
          func verdicts(_ drainsAfter: Int?) throws -> [String] {
            let instance = try trial.instance()
            defer { instance.destroy() }
            let count = HookCount()
            var manner = Traveller.Manner()
            manner.aroundHooks = { isBefore, _ in
              if !isBefore, count.next() == drainsAfter { instance.drain() }
            }
            return trial.travel([exchange], stage, instance, manner)
              .flatMap { $0.steps.map { "\($0.hook.name)=\(Verdict.name($0.verdict))" } }
          }
          let expected = try verdicts(nil)
          guard try verdicts(nil) == expected else { continue }
          for hook in 0..<max(expected.count - 1, 0) {
            isUnderWay = true
            let found = try verdicts(hook)
            trial.notes.expect(
              found == expected,
              "drained after hook \(hook + 1) of \(exchange.name) it answers \(found.joined(separator: " ")) and not \(expected.joined(separator: " "))",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
      }
      if !isUnderWay { throw TrialNotes.Skip("its stages have one hook each, so no call is under way when it is drained") }
    })
}
