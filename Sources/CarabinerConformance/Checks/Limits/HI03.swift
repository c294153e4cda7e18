internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let hi03 = Check(
    "HI03", level: 3, "refuses or takes any configuration, and never crashes",
    page: Page(
      rule: """
        Configurations that are empty, no object, of wrong types, nested 10,000 deep or 10 MiB long are refused or taken by validate(), and by
        create() if the schema lets them through; neither crashes or hangs.
        """,
      reason: """
        The host checks a configuration against the schema, so create() may rely on that, and only on that: a schema seldom limits lengths,
        depths and numbers. validate() is asked by editors and checks for files nobody has looked at.
        """,
      example: "char url[256]; strcpy(url, find(config, \"url\"));",
      remedy:
        "Measure before you copy. Limit what you take in the schema too (maxLength, maximum), so that people are told early."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      let schema = trial.interceptor.configurationSchema
      let compiled = schema.flatMap { try? JSONValue(parsing: $0) }.flatMap { try? CompiledSchema($0) }
      for text in HostileConfigurations.texts(for: schema, seed: trial.options.seed, count: trial.options.times(200, atLeast: 20))
      {
        LaboratoryRecord.note("configuration \(text.prefix(60))", inHook: false)
        let value = try? JSONValue(parsing: text)
        let isLetThrough = value.map { compiled?.violations(in: $0).isEmpty ?? ($0.object != nil) } ?? false
        if isLetThrough {
          (try? trial.instance(text))?.destroy()
        } else {
          // Whether it says yes is not the question: the schema has said no.
          _ = unsafe LaboratoryInstance.validate(trial.interceptor, host: trial.host, configuration: text)
        }
      }
    })
}
