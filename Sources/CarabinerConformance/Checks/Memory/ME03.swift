internal import CarabinerHost

extension Check {
  static let me03 = Check(
    "ME03", level: 3, "forgets what it was lent when the hook completes",
    page: Page(
      rule: """
        After a hook completed, by its verdict or by resume(), nothing it was lent is touched: no view, no event; not in the next hook, and not
        thousands of calls later.
        """,
      reason:
        "The host gives the memory to the next call. Reading it late gives another request's bytes, which is how a token of one user gets to another.",
      example: "state->path = head->url;      /* used in on_chunk */",
      remedy: "Copy what is needed later, or ask for it again in the later hook."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      try trial.exercise()
      // A view that is kept in the instance is perhaps used an hour later.
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages { LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 2500)) }
    })
}
