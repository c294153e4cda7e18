extension Check {
  static let st03 = Check(
    "ST03", level: 3, "loses nothing that it staged",
    page: Page(
      rule: #"""
        Elements are staged with a verdict that delivers them: not with FAIL, DROP or RETRY, and in on_error not with CONTINUE.
        """#,
      reason: #"""
        What was staged goes with the verdict. The consumer waits for something that was thrown away.
        """#,
      example: "host->emit(call, CRB_EMIT_RESULT, held, 0);  return CRB_DROP;",
      remedy: "CONTINUE with what was staged replaces the result; DROP swallows it and stages nothing."),
    .interceptor { trial in
      try trial.exercise(
        Exchange.usual
          + Exchange.usual.map { usual in
            var exchange = usual
            exchange.results += usual.results
            return exchange
          })
    })
}
