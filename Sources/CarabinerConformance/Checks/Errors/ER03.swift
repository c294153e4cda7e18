extension Check {
  static let er03 = Check(
    "ER03", level: 3, "survives being started again",
    page: Page(
      rule: #"""
        A stage that asks for RETRY, or stands in a chain where another one does, gets on_request again with its own state, up to the host's maximum, and is sane at each attempt.
        """#,
      reason: #"""
        The state survives a retry. A stage that makes a new one at each attempt loses the old one.
        """#,
      example: #"""
        static crb_verdict on_request(void *inst, crb_call call, void **state) { *state = malloc(sizeof(attempt)); … }
        """#,
      remedy: "if (!*state) *state = calloc(1, sizeof(attempt));"),
    .interceptor { trial in
      var manner = Traveller.Manner()
      manner.forcedRetries = 3
      try trial.exercise(Exchange.usual, manner)
    })
}
