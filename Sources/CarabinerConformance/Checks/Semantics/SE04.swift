internal import CarabinerHost

extension Check {
  static let se04 = Check(
    "SE04", level: 3, "knows operations without a name and without variables",
    page: Page(
      rule: #"""
        A stage that lets a named query with variables pass lets an anonymous one, and one without variables, pass too.
        """#,
      reason: #"""
        Both are legal GraphQL. field_get() answers CRB_E_NOTFOUND for a part that is absent, which is no error.
        """#,
      example: "if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK) return CRB_FAIL;",
      remedy: #"""
        crb_view name = { NULL, 0 };
        crb_status status = host->field_get(call, CRB_PART_OPERATION_NAME, &name);
        if (status != CRB_OK && status != CRB_E_NOTFOUND) return CRB_FAIL;
        """#),
    .interceptor { trial in
      let kinds: [Exchange] = [
        Exchange("an anonymous query") { $0.operation.name = nil },
        Exchange("a query without variables") { $0.operation.variables = nil },
        Exchange("a query with empty variables") { $0.operation.variables = "{}" },
        Exchange("an anonymous query without variables") {
          $0.operation.name = nil
          $0.operation.variables = nil
        },
      ]
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        guard trial.travel([Exchange("a query")], stage, instance).allSatisfy({ $0.verdict != Verdict.fail }) else { continue }
        for (exchange, passage) in zip(kinds, trial.travel(kinds, stage, instance)) where passage.verdict == Verdict.fail {
          trial.notes.fail(
            "it lets a named query with variables pass and fails \(exchange.name): \(passage.steps.last?.staged.failure?.message ?? "no error")",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
