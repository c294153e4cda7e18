internal import CarabinerHost
internal import Synchronization

extension Check {
  static let me07 = Check(
    "ME07", level: 6, "survives a host without memory",
    page: Page(
      rule: """
        When buf_alloc, buf_adopt, buf_slice or scratch answer 0 or NULL, every time, every second or every third time, the plugin fails the
        call or does without; it does not crash.
        """,
      reason: "Quotas are there to be reached. A plugin that writes where no memory is takes everybody with it.",
      example: "uint8_t *out; crb_buf b = host->buf_alloc(self, n, &out); memcpy(out, text, n);",
      remedy: "uint8_t *out; crb_buf b = host->buf_alloc(self, n, &out); if (!b) return CRB_FAIL;"),
    timeLimit: .seconds(120),
    .interceptor { trial in
      let slots: [HostSlot] = [.bufAlloc, .bufAdopt, .bufSlice, .scratch]
      func uses() -> Int { trial.laboratory.state.withLock { state in slots.reduce(0) { $0 + (state.uses[$1] ?? 0) } } }
      let before = uses()
      for interval in 1...trial.options.times(7, atLeast: 3) {
        let instance = try trial.instance()
        defer { instance.destroy() }
        trial.laboratory.state.withLock { state in
          for slot in slots { state.faults.fail(slot, with: Status.noMemory, every: interval) }
        }
        defer { trial.laboratory.state.withLock { $0.faults.clear() } }
        LaboratoryRecord.note("every \(interval)th allocation of the host fails", inHook: false)
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      }
      if uses() == before { throw TrialNotes.Skip("it asks the host for no memory") }
    })
}
