package import Carabiner
package import CarabinerABI

/// The stages of an operation, in order.
package struct StagePlan: Sendable, Hashable {
  /// A stage in the plan.
  package struct Stage: Sendable, Hashable {
    /// The origin of a stage.
    package enum Origin: String, Sendable, Hashable {
      case builtIn = "built-in"
      case plugin
      case ffi
    }

    package let name: String
    package let origin: Origin
    /// The decision that enabled or disabled the stage; nil if it runs by default.
    package fileprivate(set) var decision: StageDecision?
    /// The number of the manifest's rule that adds the stage, counted from 0; nil for the chain and the defaults.
    package let rule: Int?

    /// Whether the stage runs.
    package var isActive: Bool { decision?.isEnabled ?? true }
  }

  /// The stages by list, including disabled ones.
  package fileprivate(set) var stages: StageMap<[Stage]>

  /// The enabled stages of a list.
  package func active(_ list: StageKind) -> [Stage] {
    let stages = stages[list]
    return stages.allSatisfy(\.isActive) ? stages : stages.filter(\.isActive)
  }
}

extension Manifest {
  /// The stages for an operation. Each list is that of the first matching rule that has it, else the chain's, else the default.
  ///
  /// - Parameters:
  ///   - path: The path of a gateway at which the operation arrives; nil for none.
  ///   - leftOut: Plugins that do not run, with reasons. They cannot be enabled by overrides.
  package func stagePlan(
    operationName: String?, type: GraphQLOperationType, path: String? = nil, overrides: StageOverrides = StageOverrides(),
    leavingOut leftOut: [String: StageDecision] = [:]
  ) -> StagePlan {
    stagePlan(ruleIndex.choice(operationName, type, path: path), overrides: overrides, leavingOut: leftOut)
  }

  /// The stages for the operations with a choice of rules.
  package func stagePlan(
    _ choice: StageMap<Int?>, overrides: StageOverrides, leavingOut leftOut: [String: StageDecision]
  ) -> StagePlan {
    var plan = StagePlan(stages: ruleIndex.stages(choice))
    if !overrides.isEmpty || !leftOut.isEmpty || hasDisabledPlugins {
      for list in StageKind.allCases {
        for index in plan.stages[list].indices {
          let name = plan.stages[list][index].name
          plan.stages[list][index].decision = leftOut[name] ?? plugin(named: name).flatMap { overrides.decision(on: $0) }
        }
      }
    }
    // Without a parser every request fails. If all parsers are disabled, the built-in one is used.
    if callProtocol == .graphQL, !plan.stages[.parsing].contains(where: \.isActive) {
      plan.stages[.parsing] += StageKind.parsing.builtIns.map { stage($0, rule: nil) }
    }
    return plan
  }

  /// The stage with this name, as added by a rule or, if `rule` is nil, by the manifest itself.
  func stage(_ name: String, rule: Int?) -> StagePlan.Stage {
    let origin: StagePlan.Stage.Origin =
      switch plugin(named: name)?.source {
      case nil: .builtIn
      case .ffi: .ffi
      case .file, .url: .plugin
      }
    return StagePlan.Stage(name: name, origin: origin, decision: nil, rule: rule)
  }
}
