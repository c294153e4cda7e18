internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let se05 = Check(
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
