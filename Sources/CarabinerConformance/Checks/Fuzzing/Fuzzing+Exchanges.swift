extension Check {
  static let fuzzedExchanges = Check(
    "FZ01", level: 10, "withstands exchanges nobody thought of",
    page: Page(
      rule: """
        Exchanges made of a seed, 1000 unless --fuzz says otherwise, break no rule: neighbours that change, drop, multiply and fail; services
        that are not granted; functions that fail or reach their limit; configurations at the edge of the schema; hooks on other threads;
        bodies in small pieces; a cancelled call; every order of waking, cancelling and returning; a host newer than the header.
        """,
      reason: "Each of these has a check of its own. What breaks in production is a pair of them.",
      example: "if (attempt == 0) state->buffer = make();          /* and a neighbour retried before it was ever 0 here */",
      remedy: """
        Take the case's name from the report: `carabiner conform --reproduce SEED:CASE plugin.so` runs it alone, says what it is made of, and
        leaves out what does not matter. The same seed brings the same cases, on every machine.
        """),
    timeLimit: .seconds(120),
    .cases { trial, order in
      let fuzz = try FuzzTrial(trial)
      for number in order.cases { fuzz.play(FuzzCase(seed: trial.options.seed, number: number), keeping: order.kept) }
    })
}
