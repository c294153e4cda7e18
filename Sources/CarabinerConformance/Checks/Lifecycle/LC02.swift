internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc02 = Check(
    "LC02", level: 3, "fails to be created cleanly, and says why",
    page: Page(
      rule: """
        When create() fails it stores no instance, fills `why` with a message, and keeps no memory, descriptor or thread. It is made to fail by
        configurations its schema accepts, and by a host that grants no services and has no memory left.
        """,
      reason: """
        An operator sees the message and nothing else. What a failed create() keeps is lost for good: nobody will call destroy(), for there
        is no instance.
        """,
      example: """
        instance *i = *inst = calloc(1, sizeof *i);
        i->file = open(path, O_RDONLY);
        if (i->file < 0) return CRB_E_INVAL;                  /* the instance is lost, and nobody knows which file */
        """,
      remedy: """
        static const char message[] = "the file named by `rules` cannot be read";
        if (i->file < 0) { free(i); why->message = (crb_view){ (const uint8_t *)message, sizeof message - 1 }; return CRB_E_INVAL; }
        *inst = i;
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      var failing: [(configuration: String, isAlone: Bool)] = []
      func attempt(_ configuration: String, isAlone: Bool) -> LaboratoryInstance.Refusal? {
        trial.laboratory.state.withLock { state in
          guard isAlone else { return state.faults.clear() }
          for slot in [HostSlot.query, .bufAlloc, .bufAdopt, .key, .timerArm, .fetchStart, .storeLoad] {
            state.faults.fail(slot, with: Status.noMemory)
          }
        }
        defer { trial.laboratory.state.withLock { $0.faults.clear() } }
        do {
          try unsafe LaboratoryInstance(trial.interceptor, host: trial.host, configuration: configuration, validates: false)
            .destroy()
          return nil
        } catch {
          return error as? LaboratoryInstance.Refusal
        }
      }
      let variants = ConfigurationVariants.texts(
        for: trial.interceptor.configurationSchema, count: trial.options.times(200, atLeast: 60), seed: trial.options.seed)
      for configuration in variants + [trial.configuration] {
        for isAlone in [false, true] {
          guard let refusal = attempt(configuration, isAlone: isAlone) else { continue }
          let situation = isAlone ? "without services and memory of the host" : "with \(configuration.prefix(80))"
          trial.notes.expect(
            !refusal.leftInstance, "create() fails \(situation) and stores an instance all the same", at: trial.interceptor.id)
          trial.notes.expect(
            !refusal.reason.isEmpty, "create() fails \(situation) with status \(refusal.status) and does not say why",
            at: trial.interceptor.id)
          if failing.count < 4 { failing.append((configuration, isAlone)) }
        }
      }
      guard !failing.isEmpty else { throw TrialNotes.Skip("nothing a host may do makes create() fail") }
      let count = trial.options.times(1000, atLeast: 200)
      for round in 0..<2 {
        let growth = Growth()
        for index in 0..<count {
          _ = attempt(failing[index % failing.count].configuration, isAlone: failing[index % failing.count].isAlone)
        }
        // The first round fills what is filled once.
        for problem in round == 0 ? [] : growth.problems() {
          trial.notes.fail("\(count) failed creations left \(problem) behind", at: trial.interceptor.id)
        }
      }
    })
}
