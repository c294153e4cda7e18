extension Check {
  static let fuzzedExchanges = Check(
    "FZ01", level: 10, "withstands fuzzed exchanges",
    page: Page(
      rule: """
        Exchanges that are generated from a seed, 1,000 unless --fuzz sets the number, break no rule. They have neighbours that
        change, drop, multiply and fail; services that are not granted; functions that fail or reach their limit; configurations
        at the limits of the schema; hooks on other threads; bodies in small pieces; a cancelled call; every order of resume,
        cancel and return; and a host newer than the header.
        """,
      reason: "Each of these has its own check. Faults in production often need two of them together.",
      example: "if (attempt == 0) state->buffer = make();          /* and a neighbour retried before it was ever 0 here */",
      remedy: """
        Take the name of the case from the report. `carabiner conform --reproduce SEED:CASE plugin.so` runs it alone, shows what
        it contains, and removes the parts that do not matter. The same seed generates the same cases on every machine.
        """),
    timeLimit: .seconds(120),
    .cases { trial, order in
      let fuzz = try FuzzTrial(trial)
      for number in order.cases { fuzz.play(FuzzCase(seed: trial.options.seed, number: number), keeping: order.kept) }
    })
}
