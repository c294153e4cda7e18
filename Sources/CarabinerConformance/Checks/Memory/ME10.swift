internal import CLaboratory

extension Check {
  static let me10 = Check(
    "ME10", level: 3, "frees what is its own",
    page: Page(
      rule: "Memory of the host, the bytes of buf_alloc() and of scratch(), is never given to free() or operator delete.",
      reason:
        "The host has an allocator of its own, and frees it when its time has come: for the second time, if the plugin was faster.",
      example: "char *copy = host->scratch(call, n, 1); … free(copy);",
      remedy: "Nothing: scratch memory goes with the call. A buffer is given back with buf_release()."),
    .interceptor { trial in
      let code = unsafe trial.stages.first?.code
      guard let code = unsafe code, unsafe CLaboratory_watchFrees(code, LoadingTrial.isForeign) > 0 else {
        throw TrialNotes.Skip("it imports neither free() nor operator delete")
      }
      try trial.exercise()
    })
}
