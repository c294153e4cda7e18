package import Carabiner

/// The stages an operation passes, in order.
package struct StagePlan: Sendable {
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
  }

  /// The stages by list, switched-off ones included.
  package let stages: [StageList: [Stage]]

  /// The stages of a list that run.
  package func active(_ list: StageList) -> [Stage] { (stages[list] ?? []).filter { $0.disabledBy == nil } }
}

/// Which stages operations switched off from outside skip.
package struct StageOverrides: Sendable {
  /// The environment variable ops set.
  package static let variable = "CARABINER_DISABLE"

  private let patterns: [String]

  /// Reads a list such as `auth,cache-*`; `~all~` stands for every plugin.
  package init(_ text: String?) {
    patterns = (text ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }

  /// The pattern that switches a plugin off; nil if none does.
  package func disabling(_ name: String) -> String? {
    patterns.first { $0 == "~all~" || Glob($0).matches(name) }
  }
}

extension Manifest {
  private static let defaults: [StageList: [String]] = [
    .graphql: ["max-retry", "persisted-queries"], .cache: ["store"], .http: ["response-code"], .parsing: ["json"],
  ]

  /// The stages for an operation: of each list the first rule that names it, else the chain's, else the defaults.
  package func stagePlan(
    operationName: String?, type: GraphQLOperationType, overrides: StageOverrides = StageOverrides(nil)
  ) -> StagePlan {
    var remaining = Set(StageList.allCases)
    var chosen: [StageList: [String]] = [:]
    for rule in rules where rule.matches(operationName, type) {
      for list in remaining {
        guard let entries = rule.lists[list] else { continue }
        chosen[list] = entries.map(\.name)
        remaining.remove(list)
      }
      if remaining.isEmpty { break }
    }
    for list in remaining { chosen[list] = lists[list]?.map(\.name) ?? Self.defaults[list] ?? [] }
    return StagePlan(stages: chosen.mapValues { $0.map { stage($0, overrides) } })
  }

  private func stage(_ name: String, _ overrides: StageOverrides) -> StagePlan.Stage {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      return StagePlan.Stage(name: name, origin: .builtIn, disabledBy: nil)
    }
    let origin: StagePlan.Stage.Origin = if case .ffi = plugin.source { .ffi } else { .plugin }
    return StagePlan.Stage(name: name, origin: origin, disabledBy: overrides.disabling(name))
  }

  /// What the overrides may not switch off.
  package func refusals(of overrides: StageOverrides) -> [ManifestProblem] {
    plugins.compactMap { plugin in
      guard plugin.isMandatory, let pattern = overrides.disabling(plugin.name) else { return nil }
      return ManifestProblem(
        .mandatoryDisabled, at: plugin.pointer,
        "\(StageOverrides.variable)=\(pattern) would switch off \(plugin.name), which the manifest marks mandatory; narrow the "
          + "pattern, or take the mark away")
    }
  }
}
