extension Check {
  static let hi04 = Check(
    "HI04", level: 8, "stands any neighbour in the chain",
    page: Page(
      rule: """
        Whatever eight other stages of the chain do with a request and its response, the stage breaks no rule: they may change, drop and
        multiply results, answer in place of the server, fail with errors of their own, start the call again or end it early.
        """,
      reason: "Who stands beside a plugin is decided by a manifest, long after it was written.",
      example: "expected[state->count++] = result;         /* \"there is one result for each chunk\" */",
      remedy: "Rely on what carabiner.h says of a hook, and on nothing that the usual chain happens to do."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      var generator = SeededGenerator(trial.options.seed)
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        for number in 0..<trial.options.times(1000, atLeast: 200) {
          guard var exchange = Exchange.usual.randomElement(using: &generator) else { continue }
          let neighbours = (0..<8).map { _ in Neighbour.random(&generator) }
          for neighbour in neighbours { neighbour.change(&exchange) }
          exchange.name = "neighbours \(number): \(exchange.name)"
          var manner = Traveller.Manner()
          manner.forcedRetries = UInt32.random(in: 0...2, using: &generator)
          _ = trial.travel([exchange], stage, instance, manner)
        }
      }
    })
}
