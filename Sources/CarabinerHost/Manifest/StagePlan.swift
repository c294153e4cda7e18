package import Carabiner

/// The stages an operation passes, in order.
package struct StagePlan: Sendable, Hashable {
  /// A stage in the plan.
  package struct Stage: Sendable, Hashable {
    /// Where a stage comes from.
    package enum Origin: String, Sendable, Hashable {
      case builtIn = "built-in"
      case plugin
      case ffi
    }

    package let name: String
    package let origin: Origin
    /// The pattern of the override that switched it off; nil if it runs.
    package fileprivate(set) var disabledBy: String?
    /// Which of the manifest's rules put it here, counted from 0; nil for the chain itself and the defaults.
    package let rule: Int?
  }

  /// The stages by list, switched-off ones included.
  package fileprivate(set) var stages: PerList<[Stage]>

  /// The stages of a list that run.
  package func active(_ list: StageList) -> [Stage] {
    let stages = stages[list]
    return stages.allSatisfy { $0.disabledBy == nil } ? stages : stages.filter { $0.disabledBy == nil }
  }
}

extension Manifest {
  /// The stages for an operation: of each list the first rule that names it, else the chain's, else the defaults.
  package func stagePlan(
    operationName: String?, type: GraphQLOperationType, overrides: StageOverrides = StageOverrides(nil)
  ) -> StagePlan {
    var plan = StagePlan(stages: ruleIndex.choose(operationName, type))
    if !overrides.isEmpty {
      for list in StageList.allCases {
        for index in plan.stages[list].indices where plan.stages[list][index].origin != .builtIn {
          plan.stages[list][index].disabledBy = overrides.disabling(plan.stages[list][index].name)
        }
      }
    }
    // Without any parser no request can end well, and safe mode is for requests that do.
    if plan.stages[.parsing].allSatisfy({ $0.disabledBy != nil }) {
      plan.stages[.parsing] += StageList.parsing.builtIns.map { stage($0, rule: nil) }
    }
    return plan
  }

  /// The stage of this name as a rule puts it in place, or the manifest itself.
  func stage(_ name: String, rule: Int?) -> StagePlan.Stage {
    let origin: StagePlan.Stage.Origin =
      switch plugin(named: name)?.source {
      case nil: .builtIn
      case .ffi: .ffi
      case .file: .plugin
      }
    return StagePlan.Stage(name: name, origin: origin, disabledBy: nil, rule: rule)
  }
}
