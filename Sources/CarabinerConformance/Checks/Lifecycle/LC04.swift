internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let lc04 = Check(
    "LC04", level: 5, "creates what it validates, and nothing else",
    page: Page(
      rule: """
        For 500 configurations its schema accepts, validate() and create() say the same: create() succeeds where validate() said yes, and fails
        where it said no. A create() that fails for another reason than the configuration answers another status than CRB_E_INVAL.
        """,
      reason: """
        A host checks a new manifest with validate() while the old one serves, and switches when all said yes. A create() that then says
        no leaves it with half a chain.
        """,
      example: """
        validate: return CRB_OK;
        create:   if (depth < 0) return CRB_E_INVAL;
        """,
      remedy: "Read the configuration in one function, and call it from both. What the schema can say, let the schema say."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.validate != nil else {
        throw TrialNotes.Skip("it has no validate(), so create() alone decides")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let variants = ConfigurationVariants.texts(
        for: trial.interceptor.configurationSchema, count: trial.options.times(500, atLeast: 100), seed: trial.options.seed)
      for configuration in variants {
        let refusal = unsafe LaboratoryInstance.validate(trial.interceptor, host: trial.host, configuration: configuration)
        let shown = configuration.prefix(120)
        do {
          try unsafe LaboratoryInstance(trial.interceptor, host: trial.host, configuration: configuration, validates: false)
            .destroy()
          if let refusal { trial.notes.fail("\(refusal), and create() accepts \(shown)", at: trial.interceptor.id) }
        } catch let failure as LaboratoryInstance.Refusal {
          if refusal == nil, failure.status == Status.invalid {
            trial.notes.fail("validate() accepts \(shown), and \(failure)", at: trial.interceptor.id)
          }
        }
      }
    })
}
