internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let undeclaredChanges = Check(
    "SE02", level: 3, "changes only what it declares",
    page: Page(
      rule: #"""
        A stage changes, with header_set(), field_set() and emit(), only parts it has declared in `mutates`. With `mutates` of 0 a message leaves it byte for byte as it came.
        """#,
      reason: #"""
        Operators read `mutates` to know which plugins can alter a request. A host refuses the rest with CRB_E_READONLY, so the change is also lost.
        """#,
      example: ".mutates = 0, .on_request = on_request          /* and on_request calls header_set() */",
      remedy: ".mutates = CRB_PART_HEADERS,"),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.mutates.isEmpty {
        for exchange in Exchange.usual {
          for passage in trial.travel([exchange], stage, instance) {
            let isSame = "\(passage.operation)\(passage.request)" == "\(exchange.operation)\(exchange.request)"
            trial.notes.expect(
              isSame, "the message has changed: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
      }
    })
}

extension Check {
  static let editedJSON = Check(
    "SE05", level: 3, "stages valid JSON and keeps what it does not know",
    page: Page(
      rule: #"""
        Variables, extensions and results a stage writes are JSON objects, and members of `extensions` it did not put there stay.
        """#,
      reason: #"""
        Extensions belong to everybody: traces, persisted queries and costs live there side by side. Who replaces the object removes the others'.
        """#,
      example: #"""
        put(call, CRB_PART_EXTENSIONS, "{\"trace\":1}");
        """#,
      remedy: "Read the object, add your member, write the whole; and escape what you put into strings."),
    .interceptor { trial in
      let exchange = Exchange("a query with extensions of others") {
        $0.operation.extensions = #"{"others":{"keep":[1,2,3]},"number":1e3}"#
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.mutates.contains(.extensions) {
        for passage in trial.travel([exchange], stage, instance)
        where passage.operation.extensions != exchange.operation.extensions {
          let left = passage.operation.extensions.flatMap { try? JSONValue(parsing: $0) }
          trial.notes.expect(
            left?["others"]?["keep"]?.array?.count == 3 && left?["number"] != nil,
            "it removes members of extensions that are not its own",
            at: trial.interceptor.id)
        }
      }
      try trial.exercise()
    })
}

extension Check {
  static let sameAnswers = Check(
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
