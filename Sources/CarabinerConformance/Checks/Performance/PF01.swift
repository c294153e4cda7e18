internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let pf01 = Check(
    "PF01", level: 6, "lets a request pass without allocating",
    page: Page(
      rule: """
        A stage that lets a call pass, without changing anything and without a state, calls no allocator of libc in its hooks; and 99 of
        100 hooks take less than 200 µs. Anything else is a warning: some stages have to.
        """,
      reason: "Every request passes every stage. What one of them takes, all of them wait for.",
      example: "crb_verdict on_result(…) { char *copy = strndup(result->json.ptr, result->json.len); … free(copy); }",
      remedy:
        "Read views where they are. What one call needs, scratch() gives without an allocation of your own; what all need, create() can make."
    ),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CLaboratory_watchAllocations(code) > 0 else {
        throw TrialNotes.Skip("it imports no allocator of libc, so there is nothing to count")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let count = trial.options.times(2000, atLeast: 200)
      for stage in trial.stages {
        // The first ones fill what is filled once.
        _ = trial.travel(Array(repeating: Exchange("a query"), count: 20), stage, instance)
        let clock = HookClock()
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, _ in clock.note(isBefore) }
        let passages = trial.travel(Array(repeating: Exchange("a query"), count: count), stage, instance, manner)
        let isPassing = passages.allSatisfy {
          $0.steps.allSatisfy { $0.verdict == Verdict.continue && !$0.wasPending && !$0.staged.isEdited } && !$0.wasReleased
        }
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        if isPassing, clock.allocations > 0 {
          trial.notes.warn(
            "its hooks allocate \(Double(clock.allocations) / Double(max(clock.hooks, 1))) times each although they change nothing",
            at: place)
        }
        // The best of several batches, and no more of them than it takes: what the machine does meanwhile is not in all of them.
        var slow = UInt64.max
        for _ in 0..<12 where slow > 200_000 {
          let clock = HookClock()
          var manner = Traveller.Manner()
          manner.aroundHooks = { isBefore, _ in clock.note(isBefore) }
          _ = trial.travel(Array(repeating: Exchange("a query"), count: count / 2), stage, instance, manner)
          slow = min(slow, clock.percentile(0.99))
        }
        if slow > 200_000 { trial.notes.warn("one of 100 hooks takes \(slow / 1000) µs or more", at: place) }
      }
    })
}
