internal import CarabinerHost
internal import Synchronization

extension Check {
  static let me11 = Check(
    "ME11", level: 5, "keeps no descriptors, mappings, threads or keys of calls that are over",
    page: Page(
      rule: """
        In 16,000 calls no descriptor, mapping, thread, thread key or baggage key is left of some calls: what there is more of after each
        quarter is left over. Names of baggage keys are a few constants, and none is made of what a request says.
        """,
      reason: """
        A process has 1,024 descriptors, 65,530 mappings and 1,024 thread keys, as a rule, and a host 1,024 baggage keys. One that is lost in a
        thousand calls is a host that refuses connections tomorrow.
        """,
      example: """
        int file = open(path, O_RDONLY);  if (read(file, …) < 0) return CRB_FAIL;        /* and file stays open */
        host->key(self, text(request_id))                                               /* a key for each request */
        """,
      remedy: "Close what you open on every way out of a function. Ask for keys in create(), and keep them."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let quarter = trial.options.times(4000, atLeast: 1100)
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let run = LongRun(trial, stage, instance, limit: .seconds(10))
        func names() -> Int { trial.laboratory.state.withLock { $0.keys.count } }
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
          trial.notes.fail("\(calls) calls leave \(left(\.descriptors)) descriptors open\(example)", at: place)
        }
        if left(\.mapped) > 0 { trial.notes.fail("\(calls) calls leave \(left(\.mapped) >> 10) KiB of mappings", at: place) }
        if left(\.threads) > 0 { trial.notes.fail("\(calls) calls leave \(left(\.threads)) threads running", at: place) }
        if left(\.usedKeys) > 0 { trial.notes.fail("\(calls) calls leave \(left(\.usedKeys)) thread keys", at: place) }
        if names() > known + maximumNewKeys {
          trial.notes.fail("\(calls) calls name \(names() - known) new baggage keys", at: place)
        }
      }
    })

  /// How many baggage keys may be named after the first calls: some hooks come late.
  private static let maximumNewKeys = 4
}
