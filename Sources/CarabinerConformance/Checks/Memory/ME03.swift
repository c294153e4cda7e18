extension Check {
  static let me03 = Check(
    "ME03", level: 3, "forgets what it was lent when the hook completes",
    page: Page(
      rule: "After a hook completed, by its verdict or by resume(), nothing it was lent is touched: no view, no event.",
      reason:
        "The host gives the memory to the next call. Reading it late gives another request's bytes, which is how a token of one user gets to another.",
      example: "state->path = head->url;      /* used in on_chunk */",
      remedy: "Copy what is needed later, or ask for it again in the later hook."),
    .interceptor { try $0.exercise() })
}
