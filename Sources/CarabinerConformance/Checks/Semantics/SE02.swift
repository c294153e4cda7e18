internal import CarabinerHost

extension Check {
  static let se02 = Check(
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
