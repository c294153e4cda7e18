internal import CarabinerHost

extension Check {
  static let se14 = Check(
    "SE14", level: 4, "answers the same to the same",
    page: Page(
      rule: #"""
        The same request twice, each to a new instance, brings the same answers; otherwise the note says "capabilities":["varies"]. A difference is a warning.
        """#,
      reason: #"""
        What varies cannot be replayed, compared or cached. Stages that sign with the time, or choose at random, say so.
        """#,
      example: "qsort_r(fields, n, sizeof *fields, by_address, NULL);",
      remedy: #"""
        Order by content, not by address; take no time and no random number where none is needed; or declare it in the note.
        """#),
    .interceptor { trial in
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      for stage in trial.stages {
        let runs = try (0..<2).map { _ -> [String] in
          let instance = try trial.instance()
          defer { instance.destroy() }
          return trial.travel(Exchange.usual, stage, instance).map(\.fingerprint)
        }
        for (index, exchange) in Exchange.usual.enumerated() where runs[0][index] != runs[1][index] {
          trial.notes.warn(
            "it answers otherwise the second time: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
