package import FoundationEssentials

/// Which plugins operations switched on and off from outside, by whom and why.
///
/// What was said later and more deliberately wins: somebody while the host runs over the environment, there to enable over to disable,
/// and both over the manifest.
package struct StageOverrides: Sendable, Hashable {
  /// The environment variable that switches off.
  package static let disablingVariable = "CARABINER_DISABLE"
  /// The environment variable that switches on, whatever manifest and ``disablingVariable`` say.
  package static let enablingVariable = "CARABINER_ENABLE"
  /// What stands for every plugin.
  package static let everything = "~all~"

  private struct Override: Sendable, Hashable {
    let glob: Glob
    let decision: StageDecision

    init(_ pattern: String, isEnabled: Bool, _ source: StageDecision.Source) {
      glob = Glob(pattern)
      decision = StageDecision(isEnabled: isEnabled, source: source)
    }

    func matches(_ name: String) -> Bool { glob.pattern == StageOverrides.everything || glob.matches(name) }
  }

  /// The first that fits a name decides.
  private var overrides: [Override]

  /// Reads lists such as `auth,cache-*`; `~all~` stands for every plugin.
  package init(_ disabled: String? = nil, enabled: String? = nil) {
    overrides =
      Self.patterns(enabled).map {
        Override($0, isEnabled: true, .environment(variable: Self.enablingVariable, pattern: $0))
      }
      + Self.patterns(disabled).map {
        Override($0, isEnabled: false, .environment(variable: Self.disablingVariable, pattern: $0))
      }
  }

  /// Reads the two variables of an environment.
  package init(environment: [String: String]) {
    self.init(environment[Self.disablingVariable], enabled: environment[Self.enablingVariable])
  }

  private static func patterns(_ text: String?) -> [String] {
    (text ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }

  /// Whether they name nothing.
  package var isEmpty: Bool { overrides.isEmpty }

  // MARK: Live ones

  /// Switches on or off what a pattern fits, in place of what was last said of the same pattern.
  ///
  /// - Parameter reason: Why, for whoever asks later.
  package mutating func override(_ pattern: String, isEnabled: Bool, reason: String, at time: Date = .now) {
    removeLive(pattern)
    overrides.insert(Override(pattern, isEnabled: isEnabled, .live(pattern: pattern, reason: reason, at: time)), at: 0)
  }

  /// Takes back what was said of a pattern while the host ran.
  ///
  /// - Returns: Whether there was something to take back.
  @discardableResult
  package mutating func removeLive(_ pattern: String) -> Bool {
    let count = overrides.count
    overrides.removeAll { $0.decision.isLive && $0.glob.pattern == pattern }
    return overrides.count < count
  }

  /// The live ones alone, the latest first: what is handed on when the manifest is read anew.
  package var live: [StageDecision] { overrides.map(\.decision).filter(\.isLive) }

  // MARK: Deciding

  /// Who decided about a plugin; nil if it runs and nobody had to say so.
  package func decision(on plugin: Manifest.Plugin) -> StageDecision? {
    var decisions = overrides.lazy.filter { $0.matches(plugin.name) }.map(\.decision)[...]
    guard let first = decisions.popFirst() else { return plugin.decision }
    guard first.isEnabled else { return first }
    // To enable what runs anyway is to say nothing.
    return plugin.decision != nil || decisions.contains { !$0.isEnabled } ? first : nil
  }

  /// Whether requests pass a plugin, whoever decided so.
  package func runs(_ plugin: Manifest.Plugin) -> Bool { decision(on: plugin)?.isEnabled ?? true }

  /// Those that fit none of these names.
  fileprivate func idle(among names: [String]) -> [StageDecision] {
    overrides.filter { override in
      override.glob.pattern != Self.everything && !names.contains(where: override.matches)
    }.map(\.decision)
  }
}

extension StageDecision {
  fileprivate var isLive: Bool { if case .live = source { true } else { false } }
}

extension Manifest.Plugin {
  /// What its own entry says; nil if it runs.
  fileprivate var decision: StageDecision? { isEnabled ? nil : StageDecision(isEnabled: false, source: .manifest) }
}

extension Manifest {
  /// What the overrides may not do: switch off what is mandatory, or while the host runs what is not there.
  package func refusals(of overrides: StageOverrides) -> [ManifestProblem] {
    let names = plugins.map(\.name)
    let unknown = overrides.idle(among: names).filter(\.isLive).map { decision in
      ManifestProblem(
        .unknownStage,
        "there is no plugin \(decision.pattern)\(Suggestion.text(for: decision.pattern, among: names)) to be "
          + "\(decision.isEnabled ? "enabled" : "disabled"); there is \(names.joined(separator: ", "))")
    }
    return unknown
      + plugins.compactMap { plugin in
        guard plugin.isMandatory, let decision = overrides.decision(on: plugin), !decision.isEnabled else { return nil }
        return ManifestProblem(
          .mandatoryDisabled, at: plugin.pointer,
          "\(plugin.name) would be \(decision), but the manifest marks it mandatory; narrow the pattern, or take the mark away")
      }
  }

  /// Overrides that do nothing, most likely because of a slip of the pen.
  package func warnings(about overrides: StageOverrides) -> [ManifestProblem] {
    let names = plugins.map(\.name)
    return overrides.idle(among: names).filter { !$0.isLive }.map { decision in
      ManifestProblem(
        .unknownStage,
        "\(decision.author) fits no plugin\(Suggestion.text(for: decision.pattern, among: names)) and switches nothing "
          + (decision.isEnabled ? "on" : "off"))
    }
  }
}
