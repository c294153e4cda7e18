internal import CarabinerHost

extension Check {
  static let hr01 = Check(
    "HR01", level: 5, "works beside a second copy of itself",
    page: Page(
      rule: "Two copies of the same library in one process, both initialised and with instances at work, do what one does alone.",
      reason: """
        Libraries are never unmapped (R10). A host that reloads loads the new file beside the old one and drains the old instances while
        the new ones work; and the new file may be the same as the old.
        """,
      example:
        "static crb_status init(const crb_host *h, crb_view origin) { return open(\"plugin.lock\", O_CREAT | O_EXCL) < 0 ? CRB_E_STATE : CRB_OK; }",
      remedy:
        "Keep what there may be one of outside of the process, or share it by a lock that is taken for each use and given back."),
    timeLimit: .seconds(90),
    .loading { trial in
      let old = try trial.interceptors(of: trial.library())
      let new: [InterceptorTrial]
      let expected = try old.map { try GenerationTrial.prints($0) }
      let varies = trial.options.capabilities.contains("varies")
      guard try !varies && old.map({ try GenerationTrial.prints($0) }) == expected else {
        return try GenerationTrial.survive(
          old, try trial.interceptors(of: trial.library(of: trial.copy(named: "second-generation"))))
      }
      let running = try old.map { try $0.instance() }
      defer { for instance in running { instance.destroy() } }
      do {
        new = try trial.interceptors(of: trial.library(of: trial.copy(named: "second-generation")))
        for (index, interceptor) in new.enumerated() where index < old.count {
          let fresh = try interceptor.instance()
          defer { fresh.destroy() }
          let place = interceptor.interceptor.id
          trial.notes.expect(
            GenerationTrial.prints(interceptor, fresh) == expected[index], "the new copy does something else beside the old one",
            at: place)
          trial.notes.expect(
            GenerationTrial.prints(old[index], running[index]) == expected[index],
            "the old copy does something else beside the new one",
            at: place)
        }
      } catch let skip as TrialNotes.Skip {
        trial.notes.fail("a second copy does not work beside the first: \(skip.reason)")
      }
    })
}

/// What interceptors of several copies do.
enum GenerationTrial {
  private static let exchanges = Array(Exchange.usual.prefix(6))

  /// What an instance does, as its callers could tell.
  static func prints(_ trial: InterceptorTrial, _ instance: LaboratoryInstance) -> [[String]] {
    trial.stages.map { stage in trial.travel(exchanges, stage, instance).map(\.fingerprint) }
  }

  /// What a new instance does.
  static func prints(_ trial: InterceptorTrial) throws -> [[String]] {
    let instance = try trial.instance()
    defer { instance.destroy() }
    return prints(trial, instance)
  }

  /// Lets both work without comparing what they do.
  static func survive(_ old: [InterceptorTrial], _ new: [InterceptorTrial]) throws {
    for trial in old + new + old { _ = try prints(trial) }
  }
}
