internal import Carabiner
internal import CarabinerABI
package import CarabinerWire

/// The differences between two manifests, for operators who review a reload.
package struct ManifestDifference: Sendable, Hashable {
  /// One line per difference. It begins with `+` for new, `-` for removed, `~` for changed.
  package let lines: [String]

  /// The lines as JSON.
  package var json: JSONValue { .array(lines.map { .string($0) }) }

  /// The changes from `old` to `new`.
  ///
  /// - Parameters:
  ///   - oldDigests: The SHA-256 of the loaded plugin files, by entry.
  ///   - newDigests: The SHA-256 of the new plugin files, by entry.
  package init(from old: Manifest, to new: Manifest, oldDigests: [String: String] = [:], newDigests: [String: String] = [:]) {
    var lines: [String] = []
    func compare<Value: Equatable>(_ what: String, _ path: KeyPath<Manifest, Value>) {
      if old[keyPath: path] != new[keyPath: path] { lines.append("~ \(what)") }
    }
    for plugin in new.plugins {
      guard let earlier = old.plugin(named: plugin.name) else {
        lines.append("+ plugin \(plugin.name)")
        continue
      }
      var changes = Self.changes(from: earlier, to: plugin)
      if let before = oldDigests[plugin.name], let after = newDigests[plugin.name], before != after {
        changes.append("its file, from \(before.prefix(12)) to \(after.prefix(12))")
      }
      if !changes.isEmpty { lines.append("~ plugin \(plugin.name): \(changes.joined(separator: ", "))") }
    }
    for plugin in old.plugins where new.plugin(named: plugin.name) == nil { lines.append("- plugin \(plugin.name)") }
    for list in StageKind.allCases {
      let (before, after) = (Self.names(old.lists[list]), Self.names(new.lists[list]))
      if before != after { lines.append("~ chain/\(list.rawValue): \(before) becomes \(after)") }
    }
    if old.rules != new.rules { lines.append("~ rules: \(old.rules.count) become \(new.rules.count), or changed") }
    compare("downloads", \.downloads)
    compare("protocol", \.callProtocol)
    compare("connect", \.connect)
    compare("endpoint", \.endpoint)
    for upstream in new.upstreams {
      let earlier = old.upstreams.first { $0.name == upstream.name }
      if earlier != upstream { lines.append("\(earlier == nil ? "+" : "~") upstream \(upstream.name)") }
    }
    for upstream in old.upstreams where !new.upstreams.contains(where: { $0.name == upstream.name }) {
      lines.append("- upstream \(upstream.name)")
    }
    // The values are not shown: they may be secrets written in the manifest itself.
    compare("headers", \.headers)
    compare("settings", \.settings)
    compare("serve", \.serve)
    compare("fleet", \.fleet)
    compare("built-ins/store", \.store)
    compare("built-ins/max-retry", \.maxRetry)
    compare("built-ins/persisted-queries", \.persistedQueries)
    self.lines = lines
  }

  private static func names(_ entries: [Manifest.Entry]?) -> String {
    entries.map { "[\($0.map(\.name).joined(separator: ", "))]" } ?? "the defaults"
  }

  private static func changes(from old: Manifest.Plugin, to new: Manifest.Plugin) -> [String] {
    var changes: [String] = []
    switch (old.source, new.source) {
    case (.file(let before, let oldPin), .file(let after, let newPin)):
      if before != after { changes.append("file \(before) becomes \(after)") }
      if oldPin != newPin { changes.append("sha256") }
    case (.url(let before, let oldPin), .url(let after, let newPin)):
      if before != after {
        // A query may contain a signature.
        let (before, after) = (PrintableURL(before).withoutQuery, PrintableURL(after).withoutQuery)
        changes.append(before == after ? "the query of url" : "url \(before) becomes \(after)")
      }
      if oldPin != newPin { changes.append("sha256") }
    case (.ffi, .ffi): if old.source != new.source { changes.append("ffi") }
    default: changes.append("its source")
    }
    return changes + Manifest.Plugin.fields.differences(old, new)
  }
}
