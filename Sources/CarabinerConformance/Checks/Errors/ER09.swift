internal import CarabinerHost
internal import Synchronization

extension Check {
  static let er09 = Check(
    "ER09", level: 5, "degrades when the host refuses",
    page: Page(
      rule: #"""
        When any host function fails, with any of its errors, the stage ends the call or goes on without; it does not crash, hang or break another rule.
        """#,
      reason: "Quotas, limits and missing grants are ordinary in production, and rare on a desk.",
      example: "crb_buf b = host->buf_alloc(self, n, &p);  memcpy(p, json, n);",
      remedy: #"""
        if (!b) return fail(call, "no memory for the answer");
        """#),
    timeLimit: .seconds(240),
    .interceptor { trial in
      let statuses = [
        Status.invalid, Status.noMemory, Status.unsupported, Status.state, Status.limit, Status.notFound, Status.readOnly,
      ]
      let intervals = [1, 2, 3]
      try trial.exercise()
      let uses = trial.laboratory.state.withLock { $0.uses }
      // A host that cannot resume cannot be helped.
      for slot in HostSlot.allCases where slot != .resume && uses[slot] != nil {
        let chosen = slot.answersStatus ? statuses : [Status.noMemory]
        for status in chosen {
          for interval in intervals.prefix(trial.options.effort < 1 ? 1 : 3) {
            trial.laboratory.state.withLock { $0.faults.fail(slot, with: status, every: interval) }
            LaboratoryRecord.note("\(slot.rawValue) answers \(status)", inHook: false)
            // An instance that will not be made then has degraded, too.
            do { try trial.exercise() } catch is TrialNotes.Skip {}
            trial.laboratory.state.withLock { $0.faults.clear() }
          }
        }
      }
    })
}
