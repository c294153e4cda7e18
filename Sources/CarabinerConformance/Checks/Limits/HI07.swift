internal import CarabinerHost
internal import Synchronization

extension Check {
  static let hi07 = Check(
    "HI07", level: 5, "goes on when a quota is used up",
    page: Page(
      rule: """
        Bytes, scratch memory, timers, requests, store operations, keys and staged elements are limited. When one is used up, which its function says with
        CRB_E_LIMIT, 0 or NULL, the stage does without, or ends the call with an error; and it works again in the next call.
        """,
      reason:
        "Limits are set by whoever runs the host, and reached on the worst day, when a plugin that gives up makes it worse.",
      example: "crb_timer t = timer->arm(self, delay, fire, state);  wait_for_ever(state);",
      remedy: "if (!t) { host->set_error(call, &no_timer); return CRB_FAIL; }"),
    .interceptor { trial in
      let limited: [HostSlot] = [
        .bufAlloc, .bufAdopt, .scratch, .timerArm, .fetchStart, .storeLoad, .storePublish, .storeRemove, .storeRemoveMatching,
        .emit, .key,
        .headerSet, .bagSet,
      ]
      let instance = try trial.instance()
      defer { instance.destroy() }
      let stages = trial.stages
      let able = stages.filter { trial.travel([Exchange("a query before any limit")], $0, instance)[0].verdict != Verdict.fail }
      for slot in limited {
        for quota in [0, 1, 2, 5, 20].prefix(trial.options.times(5)) {
          trial.laboratory.state.withLock { state in
            state.faults.fail(slot, with: slot.answersStatus ? Status.limit : Status.noMemory, after: quota)
          }
          for stage in stages { _ = trial.travel(Exchange.usual, stage, instance) }
          trial.laboratory.state.withLock { $0.faults.clear() }
        }
      }
      // What it could not have then it can have now.
      for stage in able {
        for passage in trial.travel([Exchange("a query after all limits")], stage, instance) {
          trial.notes.expect(
            passage.verdict != Verdict.fail, "it fails a call that it answered before, when the limits are gone",
            at: trial.interceptor.id)
        }
      }
    })
}
