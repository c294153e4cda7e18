internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc05 = Check(
    "LC05", level: 3, "keeps its instances apart",
    page: Page(
      rule: """
        An instance does the same whether it is alone or beside another one with another configuration that was created later and has
        worked before.
        """,
      reason: """
        A manifest may list a plugin twice, and during a reload the old instance and the new one work at the same time. A variable of the
        library that holds the configuration makes the last one win.
        """,
      example: "static char token[256];                 /* filled in create() */",
      remedy: "struct instance { char token[256]; };    /* *inst = calloc(1, sizeof(struct instance)); */"),
    .interceptor { trial in
      // What signs with the time is the same twice in a second, and another thing in the next.
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(for: trial.interceptor.configurationSchema, count: 16, seed: trial.options.seed)
      let others = variants.filter { $0 != trial.configuration }
      let exchanges = Array(Exchange.usual.prefix(6))
      func prints(_ instance: LaboratoryInstance) -> [[String]] {
        trial.stages.map { stage in trial.travel(exchanges, stage, instance).map(\.fingerprint) }
      }
      func alone() throws -> [[String]] {
        let instance = try trial.instance()
        defer { instance.destroy() }
        return prints(instance)
      }
      let expected = try alone()
      guard try alone() == expected else {
        throw TrialNotes.Skip("what it does changes from run to run, so there is nothing to compare")
      }
      // One with the same configuration has to be kept apart as well.
      for configuration in others + [trial.configuration] {
        let first = try trial.instance()
        defer { first.destroy() }
        guard let second = try? trial.instance(configuration) else { continue }
        defer { second.destroy() }
        _ = prints(second)
        trial.notes.expect(
          prints(first) == expected,
          "it does something else beside an instance with the configuration \(configuration.prefix(120))",
          at: trial.interceptor.id)
      }
    })
}
