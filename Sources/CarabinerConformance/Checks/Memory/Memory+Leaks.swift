internal import CTestHost
internal import CarabinerABI
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let memoryOfEndedCalls = Check(
    "ME09", level: 5, "keeps no memory of completed calls",
    page: Page(
      rule: """
        After 10,000 calls the process has allocated hardly more memory than after 2,000: less than 16 bytes for each call, in
        each of two halves. A cache keeps the data of one key once.
        """,
      reason: """
        A host runs for months. Sixteen bytes per call at a thousand calls a second are more than a gigabyte a day.
        """,
      example: "static void release(void *inst, void *state) { (void)state; }        /* on_request allocates it */",
      remedy: "static void release(void *inst, void *state) { free(state); }"),
    timeLimit: .seconds(180),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let kinds = Array(Exchange.usual.prefix(8))
      let deadline = ContinuousClock.now + .seconds(20)
      let count = trial.options.times(10_000, atLeast: 1000)
      for stage in trial.stages {
        // The test host keeps data for other checks, which does not count.
        func forget() {
          trial.testHost.state.withLock { state in
            state.logged = []
            state.carried = []
          }
        }
        func pass(_ count: Int) -> (calls: Int, bytes: Int) {
          forget()
          let before = CTestHost_heapInUse()
          var calls = 0
          while calls < count, ContinuousClock.now < deadline {
            for exchange in kinds { _ = trial.travel([exchange], stage, instance) }
            calls += kinds.count
          }
          forget()
          return (calls, Int(CTestHost_heapInUse()) - Int(before))
        }
        _ = pass(count / 5)
        let halves = [pass(count * 2 / 5), pass(count * 2 / 5)]
        let perCall = halves.map { $0.calls > 100 ? Double($0.bytes) / Double($0.calls) : 0 }.min() ?? 0
        trial.notes.expect(
          perCall < 16, "each call leaks \(Int(perCall)) bytes, over \(halves[0].calls + halves[1].calls) calls",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    })
}

extension Check {
  static let resourcesOfEndedCalls = Check(
    "ME11", level: 5, "keeps no descriptors, mappings, threads or keys of completed calls",
    page: Page(
      rule: """
        During 16,000 calls the numbers of descriptors, mappings, threads, thread keys and baggage keys do not grow in every
        quarter. Names of baggage keys are a few constants, and never contain data of a request.
        """,
      reason: """
        A process usually has 1,024 descriptors, 65,530 mappings and 1,024 thread keys, and a host has 1,024 baggage keys. If one
        call in a thousand leaks one of them, the host refuses connections after a day.
        """,
      example: """
        int file = open(path, O_RDONLY);  if (read(file, …) < 0) return CRB_FAIL;        /* and file stays open */
        host->key(self, text(request_id))                                               /* a key for each request */
        """,
      remedy: "Close descriptors on every way out of a function. Ask for keys in create(), and keep them."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let quarter = trial.options.times(4000, atLeast: 1100)
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let run = LongRun(trial, stage, instance, limit: .seconds(10))
        func names() -> Int { trial.testHost.state.withLock { $0.keys.count } }
        run.run(Exchange.usual.count * 4)
        let known = names()
        run.run(quarter)
        let holdings = ProcessHoldings.now
        var (states, calls) = ([ProcessState.now], 0)
        for _ in 0..<3 {
          calls += run.run(quarter)
          states.append(.now)
        }
        func left(_ amount: @escaping (ProcessState) -> Int) -> Int {
          let steps = zip(states, states.dropFirst()).map { amount($1) - amount($0) }
          return steps.allSatisfy { $0 > 0 } ? steps.reduce(0, +) : 0
        }
        if left(\.descriptors) > 0 {
          let example = ProcessHoldings.now.openedDescriptors(since: holdings).first.map { "; \($0)" } ?? ""
          trial.notes.fail("\(calls) calls leak \(left(\.descriptors)) descriptors\(example)", at: place)
        }
        if left(\.mapped) > 0 { trial.notes.fail("\(calls) calls leak \(left(\.mapped) >> 10) KiB of mappings", at: place) }
        if left(\.threads) > 0 { trial.notes.fail("\(calls) calls leave \(left(\.threads)) threads running", at: place) }
        if left(\.usedKeys) > 0 { trial.notes.fail("\(calls) calls leak \(left(\.usedKeys)) thread keys", at: place) }
        if names() > known + maximumNewKeys {
          trial.notes.fail("\(calls) calls name \(names() - known) new baggage keys", at: place)
        }
      }
    })

  /// How many baggage keys may be new after the first calls: some hooks run late.
  private static let maximumNewKeys = 4
}
