internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let repeatedCreation = Check(
    "LC01", level: 3, "can be created and destroyed a thousand times",
    page: Page(
      rule: """
        After 1,000 instances were created and destroyed, the process has no more memory, mappings, descriptors, threads or thread
        keys than after the first 100.
        """,
      reason: "A host creates new instances at every reload of its manifest, and runs for months.",
      example: """
        static void destroy(void *inst) { instance *i = inst; free(i); }   /* i->log was opened in create() */
        """,
      remedy: """
        Release in destroy() all that create() acquired, in reverse order. Cancel timers, end threads and join them.
        """
    ),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      func cycle(_ count: Int) throws { for _ in 0..<count { try trial.instance().destroy() } }
      let count = trial.options.times(1000, atLeast: 200)
      try cycle(count / 10)
      let growth = Growth()
      let heap = try (0..<2).map { _ -> Int in
        let before = CTestHost_heapInUse()
        try cycle(count / 2)
        trial.forgetTexts()
        return (Int(CTestHost_heapInUse()) - Int(before)) / max(count / 2, 1)
      }
      for problem in growth.problems() { trial.notes.fail("\(count) instances leak \(problem)", at: trial.interceptor.id) }
      let each = heap.min() ?? 0
      trial.notes.expect(each < 16, "each instance leaks \(each) bytes", at: trial.interceptor.id)
    })
}

extension Check {
  static let failedCreation = Check(
    "LC02", level: 3, "fails to be created cleanly, and reports why",
    page: Page(
      rule: """
        When create() fails it stores no instance, fills `why` with a message, and keeps no memory, descriptor or thread. The
        check makes it fail with configurations that its schema accepts, and with a host that grants no services and has no memory
        left.
        """,
      reason: """
        The operator sees only the message. Resources that a failed create() keeps are lost: without an instance the host does not
        call destroy().
        """,
      example: """
        instance *i = *inst = calloc(1, sizeof *i);
        i->file = open(path, O_RDONLY);
        if (i->file < 0) return CRB_E_INVAL;                  /* the instance is lost, and there is no message */
        """,
      remedy: """
        static const char message[] = "the file named by `rules` cannot be read";
        if (i->file < 0) { free(i); why->message = (crb_view){ (const uint8_t *)message, sizeof message - 1 }; return CRB_E_INVAL; }
        *inst = i;
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      var failing: [(configuration: String, isAlone: Bool)] = []
      func attempt(_ configuration: String, isAlone: Bool) -> CreationFailure? {
        trial.testHost.state.withLock { state in
          guard isAlone else { return state.faults.clear() }
          for slot in [HostSlot.query, .bufAlloc, .bufAdopt, .key, .timerArm, .fetchStart, .storeLoad] {
            state.faults.fail(slot, with: Status.noMemory)
          }
        }
        defer { trial.testHost.state.withLock { $0.faults.clear() } }
        do {
          try unsafe TestHostInstance(trial.interceptor, host: trial.host, configuration: configuration, validates: false)
            .destroy()
          return nil
        } catch {
          return error as? CreationFailure
        }
      }
      let variants = ConfigurationVariants.texts(
        for: trial.interceptor.configurationSchema, count: trial.options.times(200, atLeast: 60), seed: trial.options.seed)
      for configuration in variants + [trial.configuration] {
        for isAlone in [false, true] {
          guard let refusal = attempt(configuration, isAlone: isAlone) else { continue }
          let situation = isAlone ? "without services and memory of the host" : "with \(configuration.prefix(80))"
          trial.notes.expect(
            !refusal.leftInstance, "create() fails \(situation) but stores an instance", at: trial.interceptor.id)
          trial.notes.expect(
            !refusal.reason.isEmpty, "create() fails \(situation) with status \(refusal.status) but gives no reason in `why`",
            at: trial.interceptor.id)
          if failing.count < 4 { failing.append((configuration, isAlone)) }
        }
      }
      guard !failing.isEmpty else { throw TrialNotes.Skip("create() does not fail with any configuration or host of this check") }
      let count = trial.options.times(1000, atLeast: 200)
      var heap: [Int] = []
      for round in 0..<3 {
        let growth = Growth()
        let before = CTestHost_heapInUse()
        for index in 0..<count {
          _ = attempt(failing[index % failing.count].configuration, isAlone: failing[index % failing.count].isAlone)
        }
        if round > 0 { heap.append((Int(CTestHost_heapInUse()) - Int(before)) / count) }
        // The first round makes allocations that happen only once.
        for problem in round == 0 ? [] : growth.problems() {
          trial.notes.fail("\(count) failed creations leak \(problem)", at: trial.interceptor.id)
        }
      }
      let each = heap.min() ?? 0
      trial.notes.expect(each < 16, "each failed creation leaks \(each) bytes", at: trial.interceptor.id)
    })
}

extension Check {
  static let validationWithoutTrace = Check(
    "LC03", level: 3, "validates without side effects",
    page: Page(
      rule: """
        validate() opens no descriptors, writes no files, starts no threads, timers, requests or store operations, keeps no
        buffers and no memory, and changes neither signals nor the environment.
        """,
      reason: """
        A host also validates configurations that it does not use: in an editor, or for a reload that it refuses.
        """,
      example: """
        static crb_status validate(const crb_host *h, crb_view config, crb_error *why) {
          int file = open(path_in(config), O_CREAT | O_WRONLY, 0600);        /* left behind when the manifest is refused */
        """,
      remedy: "Read only the text of the configuration. If something must be tried, try it in create()."),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.validate != nil else { throw TrialNotes.Skip("it has no validate()") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(for: trial.interceptor.configurationSchema, count: 50, seed: trial.options.seed)
      func validate(_ count: Int) {
        for index in 0..<count {
          _ = unsafe TestHostInstance.validate(
            trial.interceptor, host: trial.host,
            configuration: index == 0 ? trial.configuration : variants[index % variants.count])
        }
      }
      let watched: [HostSlot] = [.timerArm, .fetchStart, .storeLoad, .storePublish, .storeRemove, .storeRemoveMatching]
      let before = trial.testHost.state.withLock { ($0.buffers.count, $0.uses) }
      _ = ProcessHoldings.now
      let holdings = ProcessHoldings.now
      validate(variants.count)
      for change in ProcessHoldings.now.changes(since: holdings) {
        trial.notes.fail("after validate() \(change)", at: trial.interceptor.id)
      }
      let growth = Growth()
      validate(trial.options.times(2000, atLeast: 500))
      for problem in growth.problems() { trial.notes.fail("validate() leaks \(problem)", at: trial.interceptor.id) }
      let after = trial.testHost.state.withLock { ($0.buffers.count, $0.uses) }
      trial.notes.expect(after.0 <= before.0, "validate() leaks \(after.0 - before.0) buffers", at: trial.interceptor.id)
      for slot in watched where after.1[slot] != before.1[slot] {
        trial.notes.fail("validate() uses \(slot.rawValue), which has effects", at: trial.interceptor.id)
      }
    })
}

extension Check {
  static let validationMatchesCreation = Check(
    "LC04", level: 5, "creates exactly the configurations that it validates",
    page: Page(
      rule: """
        For 500 configurations that its schema accepts, validate() and create() agree: create() succeeds if validate() accepted
        the configuration, and fails if validate() refused it. A create() that fails for another reason than the configuration
        does not answer CRB_E_INVAL.
        """,
      reason: """
        A host checks a new manifest with validate() while the old one serves, and switches when all plugins accept it. If
        create() then fails, the host has an incomplete chain.
        """,
      example: """
        validate: return CRB_OK;
        create:   if (depth < 0) return CRB_E_INVAL;
        """,
      remedy: """
        Read the configuration in one function, and call it from both. Express as many rules as possible in the schema.
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.validate != nil else {
        throw TrialNotes.Skip("it has no validate(), so create() alone decides")
      }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(
        for: trial.interceptor.configurationSchema, count: trial.options.times(500, atLeast: 100), seed: trial.options.seed)
      for configuration in variants {
        let refusal = unsafe TestHostInstance.validate(trial.interceptor, host: trial.host, configuration: configuration)
        let shown = configuration.prefix(120)
        do {
          try unsafe TestHostInstance(trial.interceptor, host: trial.host, configuration: configuration, validates: false)
            .destroy()
          if let refusal { trial.notes.fail("\(refusal), and create() accepts \(shown)", at: trial.interceptor.id) }
        } catch let failure as CreationFailure {
          if refusal == nil, failure.status == Status.invalid {
            trial.notes.fail("validate() accepts \(shown), and \(failure)", at: trial.interceptor.id)
          }
        }
      }
    })
}

extension Check {
  static let separateInstances = Check(
    "LC05", level: 3, "shares no state between instances",
    page: Page(
      rule: """
        An instance gives the same answers alone, after another one was destroyed, and beside another instance with another
        configuration that was created earlier or later and has already worked.
        """,
      reason: """
        A manifest may list a plugin twice, and during a reload the old and the new instance work at the same time. If a variable
        of the library holds the configuration, the last instance overwrites it for all.
        """,
      example: "static char token[256];                 /* filled in create() */",
      remedy: "struct instance { char token[256]; };    /* *inst = calloc(1, sizeof(struct instance)); */"),
    .interceptor { trial in
      // For example, a signature with the time is the same twice in a second, and differs in the next.
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(for: trial.interceptor.configurationSchema, count: 16, seed: trial.options.seed)
      let others = variants.filter { $0 != trial.configuration }
      let fields = Exchange("a query with fields that the plugin may look for") { $0.add(trial.words.fields("one")) }
      let exchanges = Array(Exchange.usual.prefix(6)) + [fields]
      func prints(_ instance: TestHostInstance) -> [[String]] {
        trial.stages.map { stage in trial.travel(exchanges, stage, instance).map(\.fingerprint) }
      }
      func alone<Answer>(_ answers: (TestHostInstance) -> Answer) throws -> Answer {
        let instance = try trial.instance()
        defer { instance.destroy() }
        return answers(instance)
      }
      /// The answers of the first instance of a process, as a number.
      func first(_ configuration: String) -> UInt64? {
        ProcessCopy.value {
          let instance = try trial.instance(configuration)
          return hash(prints(instance))
        }
      }
      // These answers come first, because a library may keep the configuration of its first instance.
      let firstAnswers =
        PluginWorker.current == nil && !trial.testHost.timers.hasThread
        ? (others.prefix(8) + [trial.configuration]).map { ($0, first($0), first($0)) } : []
      let verdicts = try (0..<3).map { _ in
        try alone { instance in
          defer { trial.settle(.milliseconds(100)) }
          return trial.stages.map { stage in trial.travel(exchanges, stage, instance).map(\.verdict) }
        }
      }
      if verdicts[1] == verdicts[2], verdicts[0] != verdicts[1] {
        return trial.notes.fail("its answers change once an instance was destroyed", at: trial.interceptor.id)
      }
      let expected = try alone(prints)
      guard try alone(prints) == expected else {
        throw TrialNotes.Skip("its answers differ from run to run, so they cannot be compared")
      }
      let steady = firstAnswers.filter { $0.1 != nil && $0.1 == $0.2 }
      if steady.contains(where: { $0.0 == trial.configuration && $0.1 == hash(expected) }) {
        for (configuration, answer, _) in steady {
          guard let later = try? trial.instance(configuration), let last = try? trial.instance(configuration) else { continue }
          defer { for instance in [later, last] { instance.destroy() } }
          let answers = [hash(prints(later)), hash(prints(last))]
          // If the two answers differ, the plugin's answers vary with this configuration, and nothing is compared.
          trial.notes.expect(
            answers[0] == answer || answers[0] != answers[1],
            "an instance with the configuration \(configuration.prefix(120)) answers differently when it is not the first instance of the process",
            at: trial.interceptor.id)
        }
      }
      // An instance with the same configuration must be separate as well.
      for configuration in others + [trial.configuration] {
        let first = try trial.instance()
        defer { first.destroy() }
        guard let second = try? trial.instance(configuration) else { continue }
        defer { second.destroy() }
        _ = prints(second)
        trial.notes.expect(
          prints(first) == expected,
          "its answers change beside an instance with the configuration \(configuration.prefix(120))",
          at: trial.interceptor.id)
      }
    })

  /// FNV-1a, which is the same in each process.
  private static func hash(_ prints: [[String]]) -> UInt64 {
    prints.joined().joined(separator: "\n").utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
