/// Which plugins operations switched off from outside.
package struct StageOverrides: Sendable, Hashable {
  /// The environment variable ops set.
  package static let variable = "CARABINER_DISABLE"
  /// What stands for every plugin.
  package static let everything = "~all~"

  private let patterns: [Glob]

  /// Reads a list such as `auth,cache-*`; `~all~` stands for every plugin.
  package init(_ text: String?) {
    patterns = (text ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }.map(Glob.init)
  }

  /// Whether they name nothing.
  var isEmpty: Bool { patterns.isEmpty }

  /// The pattern that switches a plugin off; nil if none does.
  package func disabling(_ name: String) -> String? {
    patterns.first { $0.pattern == Self.everything || $0.matches(name) }?.pattern
  }

  /// The patterns that fit none of these names.
  func idle(among names: [String]) -> [String] {
    patterns.filter { glob in glob.pattern != Self.everything && !names.contains(where: glob.matches) }.map(\.pattern)
  }
}

extension Manifest {
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

  /// Overrides that do nothing, most likely because of a slip of the pen.
  package func warnings(about overrides: StageOverrides) -> [ManifestProblem] {
    let names = plugins.map(\.name)
    return overrides.idle(among: names).map { pattern in
      ManifestProblem(
        .unknownStage,
        "\(StageOverrides.variable)=\(pattern) fits no plugin\(Suggestion.text(for: pattern, among: names)) and switches nothing off"
      )
    }
  }
}
