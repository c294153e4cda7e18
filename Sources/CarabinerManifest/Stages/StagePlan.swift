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
    /// Who switched it on or off; nil if it runs and nobody had to say so.
    package fileprivate(set) var decision: StageDecision?
    /// Which of the manifest's rules put it here, counted from 0; nil for the chain itself and the defaults.
    package let rule: Int?

    /// Whether it runs.
    package var isActive: Bool { decision?.isEnabled ?? true }
  }

  /// The stages by list, switched-off ones included.
  package fileprivate(set) var stages: StageMap<[Stage]>

  /// The stages of a list that run.
  package func active(_ list: StageList) -> [Stage] {
    let stages = stages[list]
    return stages.allSatisfy(\.isActive) ? stages : stages.filter(\.isActive)
  }
}

extension Manifest {
  /// The stages for an operation: of each list the first rule that names it, else the chain's, else the defaults.
  ///
  /// - Parameter leftOut: Plugins that do not run whoever wants them to, and why.
  package func stagePlan(
    operationName: String?, type: GraphQLOperationType, overrides: StageOverrides = StageOverrides(),
    leavingOut leftOut: [String: StageDecision] = [:]
  ) -> StagePlan {
    stagePlan(ruleIndex.choice(operationName, type), overrides: overrides, leavingOut: leftOut)
  }

  /// The stages for the operations of a choice of rules.
  package func stagePlan(
    _ choice: StageMap<Int?>, overrides: StageOverrides, leavingOut leftOut: [String: StageDecision]
  ) -> StagePlan {
    var plan = StagePlan(stages: ruleIndex.stages(choice))
    if !overrides.isEmpty || !leftOut.isEmpty || hasDisabledPlugins {
      for list in StageList.allCases {
        for index in plan.stages[list].indices {
          let name = plan.stages[list][index].name
          plan.stages[list][index].decision = leftOut[name] ?? plugin(named: name).flatMap { overrides.decision(on: $0) }
        }
      }
    }
    // Without any parser no request can end well, and safe mode is for requests that do.
    if !plan.stages[.parsing].contains(where: \.isActive) {
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
    return StagePlan.Stage(name: name, origin: origin, decision: nil, rule: rule)
  }
}
