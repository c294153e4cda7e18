internal import CarabinerHost

extension Check {
  static let th03 = Check(
    "TH03", level: 5, "works on whatever thread it is called",
    page: Page(
      rule: #"""
        Hooks of one call may come on different threads, one after the other; the answers are the same.
        """#,
      reason: "A host has several loops and pools. SERIAL means one at a time, not always the same one.",
      example: "static _Thread_local attempt current;        /* set in on_request, read in on_result */",
      remedy: "Keep what belongs to a call in its state, and what belongs to all in the instance."),
    .interceptor { trial in
      let varies = trial.options.capabilities.contains("varies")
      for stage in trial.stages {
        // What varies on one thread, too, says nothing about threads: SE14 looks at that.
        let answers = try [false, false, true].map { changes -> [String] in
          let instance = try trial.instance()
          defer { instance.destroy() }
          return trial.travel(Exchange.usual, stage, instance, Traveller.Manner(changesThreads: changes)).map(\.fingerprint)
        }
        for (index, exchange) in Exchange.usual.enumerated()
        where !varies && answers[0][index] == answers[1][index] && answers[0][index] != answers[2][index] {
          trial.notes.fail(
            "on changing threads it answers otherwise: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
