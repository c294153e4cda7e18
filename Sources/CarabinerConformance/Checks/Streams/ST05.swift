internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let st05 = Check(
    "ST05", level: 6, "holds a subscription without end in constant memory",
    page: Page(
      rule: "A subscription of 200,000 results takes no more memory than one of 2,000.",
      reason: "Subscriptions live for days. What is kept of each result is never given back.",
      example: "state->seen = append(state->seen, result->seq);",
      remedy: "Keep the last one, or a number."),
    timeLimit: .seconds(180),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL || stage.kind == .http {
        func run(_ count: Int) {
          var exchange = Exchange("\(count) results of one subscription")
          exchange.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
          exchange.chunks = [[UInt8(ascii: " ")]]
          let endless = EndlessTrial(trial, stage, instance)
          endless.run(exchange, count: count)
        }
        run(2000)
        let before = ProcessState.now.memory
        let count = trial.options.times(200_000, atLeast: 20_000)
        run(count)
        let growth = ProcessState.now.memory - before
        trial.notes.expect(
          growth < 4 << 20, "a subscription of \(count) results took \(growth >> 10) KiB",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    })
}
