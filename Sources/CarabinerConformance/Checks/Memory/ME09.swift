internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let me09 = Check(
    "ME09", level: 5, "keeps nothing of calls that are over",
    page: Page(
      rule: """
        After 10,000 calls no more memory is allocated than after 2,000: less than 16 bytes for each call, in each of two halves. What a
        cache keeps for one key it keeps once.
        """,
      reason: "A host runs for months. Sixteen bytes a call at a thousand calls a second are more than a gigabyte a day.",
      example: "static void release(void *inst, void *state) { (void)state; }        /* on_request allocates it */",
      remedy: "static void release(void *inst, void *state) { free(state); }"),
    timeLimit: .seconds(180),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let kinds = Array(Exchange.usual.prefix(8))
      let deadline = ContinuousClock.now + .seconds(20)
      let count = trial.options.times(10_000, atLeast: 1000)
      for stage in trial.stages {
        // What the laboratory keeps for other checks is not the plugin's.
        func forget() {
          trial.laboratory.state.withLock { state in
            state.logged = []
            state.carried = []
          }
        }
        func pass(_ count: Int) -> (calls: Int, bytes: Int) {
          forget()
          let before = CLaboratory_heapInUse()
          var calls = 0
          while calls < count, ContinuousClock.now < deadline {
            for exchange in kinds { _ = trial.travel([exchange], stage, instance) }
            calls += kinds.count
          }
          forget()
          return (calls, Int(CLaboratory_heapInUse()) - Int(before))
        }
        _ = pass(count / 5)
        let halves = [pass(count * 2 / 5), pass(count * 2 / 5)]
        let perCall = halves.map { $0.calls > 100 ? Double($0.bytes) / Double($0.calls) : 0 }.min() ?? 0
        trial.notes.expect(
          perCall < 16, "each call leaves \(Int(perCall)) bytes behind, over \(halves[0].calls + halves[1].calls) calls",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    })
}
