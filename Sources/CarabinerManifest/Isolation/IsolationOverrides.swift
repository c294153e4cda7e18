internal import CarabinerWire

/// The plugins that the environment puts into workers, whatever the manifest says.
package struct IsolationOverrides: Sendable, Hashable {
  /// The environment variable with the patterns.
  package static let variable = "CARABINER_ISOLATE"

  private let globs: [Glob]

  /// Reads a list such as `auth,cache-*`; `~all~` matches every plugin.
  package init(_ patterns: String? = nil) { globs = StageOverrides.patterns(patterns).map { Glob($0) } }

  /// Reads the variable of an environment.
  package init(environment: [String: String]) { self.init(environment[Self.variable]) }

  /// Whether a plugin with this name runs in a worker.
  package func isolates(_ name: String) -> Bool {
    globs.contains { $0.pattern == StageOverrides.everything || $0.matches(name) }
  }

  /// The patterns that match none of these names.
  fileprivate func idle(among names: [String]) -> [String] {
    globs.filter { glob in glob.pattern != StageOverrides.everything && !names.contains(where: glob.matches) }.map(\.pattern)
  }
}

extension Manifest {
  /// The process that a plugin runs in, by its entry and the environment.
  ///
  /// A plugin that only the environment puts into a worker has a group with its own name. If other entries of the manifest have that
  /// group, the plugin joins them.
  package func isolation(of plugin: Plugin, _ overrides: IsolationOverrides) -> Isolation {
    guard plugin.isolation == .inProcess, plugin.source.isLibrary, overrides.isolates(plugin.name) else {
      return plugin.isolation
    }
    let group = plugins.lazy.compactMap(\.isolation.worker).first { $0.group == plugin.name }
    return .worker(group ?? WorkerSettings(group: plugin.name))
  }

  /// The groups of the plugins that run in workers, by entry.
  package func workerGroups(_ overrides: IsolationOverrides) -> [String: String] {
    var groups: [String: String] = [:]
    for plugin in plugins { groups[plugin.name] = isolation(of: plugin, overrides).worker?.group }
    return groups
  }

  /// Patterns that have no effect, probably because of a typing mistake.
  package func warnings(about overrides: IsolationOverrides) -> [ManifestProblem] {
    let names = plugins.filter(\.source.isLibrary).map(\.name)
    return overrides.idle(among: names).map { pattern in
      ManifestProblem(
        .unknownStage,
        "\(IsolationOverrides.variable)=\(pattern) fits no plugin with a file\(Suggestion.text(for: pattern, among: names)) and "
          + "isolates nothing")
    }
  }

  /// Warnings about entries of one file that do not run in the same process, and share no static variables.
  package func separatedFiles(_ overrides: IsolationOverrides) -> [ManifestProblem] {
    var first: [String: (name: String, group: String?)] = [:]
    return plugins.compactMap { plugin in
      let file: String
      switch plugin.source {
      case .file(let path, _): file = path
      case .url(_, let digest): file = digest
      case .ffi: return nil
      }
      let group = isolation(of: plugin, overrides).worker?.group
      guard let known = first[file] else {
        first[file] = (plugin.name, group)
        return nil
      }
      guard known.group != group else { return nil }
      func place(_ group: String?) -> String { group.map { "in the worker \($0)" } ?? "in the process of the host" }
      return ManifestProblem(
        .isolation, at: plugin.pointer.appending("isolation"),
        "\(known.name) and \(plugin.name) have the same file and share no memory: \(known.name) runs \(place(known.group)), "
          + "\(plugin.name) \(place(group)); write the same group in both if the file has static variables that they share")
    }
  }
}
