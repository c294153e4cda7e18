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
    package let disabledBy: String?
    /// Which of the manifest's rules put it here, counted from 0; nil for the chain itself and the defaults.
    package let rule: Int?
  }

  /// The stages by list, switched-off ones included.
  package let stages: [StageList: [Stage]]

  /// The stages of a list that run.
  package func active(_ list: StageList) -> [Stage] { (stages[list] ?? []).filter { $0.disabledBy == nil } }
}

extension Manifest {
  /// The stages for an operation: of each list the first rule that names it, else the chain's, else the defaults.
  package func stagePlan(
    operationName: String?, type: GraphQLOperationType, overrides: StageOverrides = StageOverrides(nil)
  ) -> StagePlan {
    let chosen = ruleIndex.choose(operationName, type)
    var stages: [StageList: [StagePlan.Stage]] = [:]
    for list in StageList.allCases {
      let names = (chosen[list]?.entries ?? lists[list])?.map(\.name) ?? list.builtIns
      stages[list] = names.map { stage($0, overrides, rule: chosen[list]?.rule) }
    }
    // Without any parser no request can end well, and safe mode is for requests that do.
    if stages[.parsing]?.allSatisfy({ $0.disabledBy != nil }) == true {
      stages[.parsing]? += StageList.parsing.builtIns.map { stage($0, overrides, rule: nil) }
    }
    return StagePlan(stages: stages)
  }

  private func stage(_ name: String, _ overrides: StageOverrides, rule: Int?) -> StagePlan.Stage {
    guard let plugin = plugin(named: name) else {
      return StagePlan.Stage(name: name, origin: .builtIn, disabledBy: nil, rule: rule)
    }
    let origin: StagePlan.Stage.Origin = if case .ffi = plugin.source { .ffi } else { .plugin }
    return StagePlan.Stage(name: name, origin: origin, disabledBy: overrides.disabling(name), rule: rule)
  }
}
