internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc03 = Check(
    "LC03", level: 3, "validates without leaving a trace",
    page: Page(
      rule: """
        validate() opens no descriptors, writes no files, starts no threads, timers, requests or operations of the store, keeps no buffers
        and no memory, and changes neither signals nor the environment.
        """,
      reason:
        "A host validates what it may never use: to complete a manifest in an editor, to refuse a reload, to explain a mistake.",
      example: """
        static crb_status validate(const crb_host *h, crb_view config, crb_error *why) {
          int file = open(path_in(config), O_CREAT | O_WRONLY, 0600);        /* left behind when the manifest is refused */
        """,
      remedy: "Look at the text of the configuration, and at nothing else. What has to be tried out is tried out in create()."),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.validate != nil else { throw TrialNotes.Skip("it has no validate()") }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(for: trial.interceptor.configurationSchema, count: 50, seed: trial.options.seed)
      func validate(_ count: Int) {
        for index in 0..<count {
          _ = unsafe LaboratoryInstance.validate(
            trial.interceptor, host: trial.host,
            configuration: index == 0 ? trial.configuration : variants[index % variants.count])
        }
      }
      let watched: [HostSlot] = [.timerArm, .fetchStart, .storeLoad, .storePublish, .storeRemove, .storeRemoveMatching]
      let before = trial.laboratory.state.withLock { ($0.buffers.count, $0.uses) }
      _ = ProcessHoldings.now
      let holdings = ProcessHoldings.now
      validate(variants.count)
      for change in ProcessHoldings.now.changes(since: holdings) {
        trial.notes.fail("after validate() \(change)", at: trial.interceptor.id)
      }
      let growth = Growth()
      validate(trial.options.times(2000, atLeast: 500))
      for problem in growth.problems() { trial.notes.fail("validate() leaves \(problem) behind", at: trial.interceptor.id) }
      let after = trial.laboratory.state.withLock { ($0.buffers.count, $0.uses) }
      trial.notes.expect(after.0 <= before.0, "validate() leaves \(after.0 - before.0) buffers behind", at: trial.interceptor.id)
      for slot in watched where after.1[slot] != before.1[slot] {
        trial.notes.fail("validate() uses \(slot.rawValue), which has effects", at: trial.interceptor.id)
      }
    })
}
