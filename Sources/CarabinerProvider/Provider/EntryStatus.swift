package import CarabinerABI
package import CarabinerBridge
package import CarabinerManifest
internal import CarabinerWire
internal import Synchronization

/// The state of a manifest's entry, as reports and metrics show it.
package struct EntryStatus: Sendable, Hashable {
  package let name: String
  package let origin: StagePlan.Stage.Origin
  /// The plugin's file or the C library, as the manifest names it.
  package let path: String
  /// SHA-256 of the loaded file; nil if nothing is loaded, and for C libraries.
  package let digest: String?
  /// The id from the plugin's note, or the function of an `ffi` entry; nil if it is not loaded.
  package let id: String?
  package let version: String?
  /// The lists that contain the entry, including those of rules.
  package let lists: [StageKind]
  package let isMandatory: Bool
  /// Whether it reads results as a GraphQL stage. A gateway collects bodies for it that it would else pass on.
  package let readsResults: Bool
  /// Whether requests pass it, regardless of its circuit breaker.
  package let isEnabled: Bool
  /// The decision that switched it on or off; nil if it runs by default.
  package let decision: StageDecision?
  /// Its circuit breaker; nil if it has none.
  package let breaker: CircuitBreaker.Status?
  /// How often it violated the contract.
  package let faults: Int
  /// How often it failed a call with an error. A failure is a valid result, not a fault.
  package let failures: Int
  /// How often it retried a request.
  package let retries: Int
  /// How many calls began. A request counts once for each list that contains the entry.
  package let callsBegun: Int
  /// How many of these calls are in flight.
  package let callsInFlight: Int
}

extension HostedChain {
  /// The entries of the manifest, in the order they are declared.
  package func entries() -> [EntryStatus] {
    let (overrides, loadedPlugins) = current
    let leftOut = entriesLeftOut()
    let lists = [manifest.lists] + manifest.rules.map(\.lists)
    return manifest.plugins.map { plugin in
      let decision = leftOut[plugin.name] ?? overrides.decision(on: plugin)
      let library = loadedPlugins.libraries[plugin.name]
      let instance = loadedPlugins.instance(plugin.name)
      let function = loadedPlugins.ffi(plugin.name)?.function.declaration
      let calls = instance?.counters.calls
      let (origin, path): (StagePlan.Stage.Origin, String) =
        switch plugin.source {
        case .file(let path, _), .url(let path, _): (.plugin, path)
        case .ffi(let declaration): (.ffi, function?.library ?? declaration["library"]?.string ?? "")
        }
      return EntryStatus(
        name: plugin.name, origin: origin, path: path, digest: library?.digest, id: instance?.id ?? function?.function,
        version: library?.note.version,
        lists: StageKind.allCases.filter { list in lists.contains { $0[list]?.contains { $0.name == plugin.name } ?? false } },
        isMandatory: plugin.isMandatory,
        readsResults: loadedPlugins.binding(plugin.name, .graphQL)?.needs.isDisjoint(with: .ofResults) == false,
        isEnabled: decision?.isEnabled ?? true, decision: decision,
        breaker: instance?.breaker?.status, faults: instance?.counters.faults.load(ordering: .relaxed) ?? 0,
        failures: instance?.counters.failures.load(ordering: .relaxed) ?? 0,
        retries: instance?.counters.retries.load(ordering: .relaxed) ?? 0,
        callsBegun: calls?.begun ?? 0, callsInFlight: calls?.inFlight ?? 0)
    }
  }
}
