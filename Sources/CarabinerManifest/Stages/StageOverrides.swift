internal import CarabinerWire
package import FoundationEssentials

/// The plugins that operators enable or disable from outside the manifest, with reasons.
///
/// Live overrides win over the environment, and the environment wins over the manifest. In the environment, enabling wins over
/// disabling. The latest live override wins.
package struct StageOverrides: Sendable, Hashable {
  /// The environment variable that disables plugins.
  package static let disablingVariable = "CARABINER_DISABLE"
  /// The environment variable that enables plugins. It overrides the manifest and ``disablingVariable``.
  package static let enablingVariable = "CARABINER_ENABLE"
  /// The pattern for every plugin.
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

  /// The first override that matches a name decides.
  private var overrides: [Override]

  /// Reads lists such as `auth,cache-*`; `~all~` matches every plugin.
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

  /// The patterns of a list that is separated by commas.
  static func patterns(_ text: String?) -> [String] {
    guard let text else { return [] }
    return text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }

  /// Whether there are no overrides.
  package var isEmpty: Bool { overrides.isEmpty }

  // MARK: Live overrides

  /// Enables or disables the plugins that match a pattern. It replaces an earlier live override with the same pattern.
  ///
  /// - Parameter reason: The reason, for operators who see the override later.
  package mutating func override(_ pattern: String, isEnabled: Bool, reason: String, at time: Date = .now) {
    removeLive(pattern)
    overrides.insert(Override(pattern, isEnabled: isEnabled, .live(pattern: pattern, reason: reason, at: time)), at: 0)
  }

  /// Removes the live override with this pattern.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  package mutating func removeLive(_ pattern: String) -> Bool {
    let count = overrides.count
    overrides.removeAll { $0.decision.isLive && $0.glob.pattern == pattern }
    return overrides.count < count
  }

  /// The live overrides, the latest first. They are kept when the manifest is reloaded.
  package var live: [StageDecision] { overrides.map(\.decision).filter(\.isLive) }

  // MARK: Deciding

  /// The decision about a plugin; nil if it runs by default.
  package func decision(on plugin: Manifest.Plugin) -> StageDecision? {
    var decisions = overrides.lazy.filter { $0.matches(plugin.name) }.map(\.decision)[...]
    guard let first = decisions.popFirst() else { return plugin.decision }
    guard first.isEnabled else { return first }
    // The plugin runs anyway, so there is no decision to report.
    return plugin.decision != nil || decisions.contains { !$0.isEnabled } ? first : nil
  }

  /// Whether requests pass a plugin.
  package func runs(_ plugin: Manifest.Plugin) -> Bool { decision(on: plugin)?.isEnabled ?? true }

  /// The overrides that match none of these names.
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
  /// The decision of the entry itself; nil if the plugin runs.
  fileprivate var decision: StageDecision? { isEnabled ? nil : StageDecision(isEnabled: false, source: .manifest) }
}

extension Manifest {
  /// Overrides that are not allowed: those that disable a mandatory plugin, and live ones for a plugin that does not exist.
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

  /// Overrides that have no effect, probably because of a typing mistake.
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
