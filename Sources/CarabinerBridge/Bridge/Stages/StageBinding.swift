internal import CCarabiner
package import CarabinerABI

/// An instance in one place of the chain.
package final class StageBinding: Sendable {
  package let plugin: PluginInstance
  package let kind: StageKind
  package let needs: Parts
  let mutates: Parts
  /// The hooks that may change headers, one bit each.
  private let headerHooks: UInt32

  package init(_ plugin: PluginInstance, _ kind: StageKind) {
    self.plugin = plugin
    self.kind = kind
    let (needs, mutates): (UInt32, UInt32) =
      switch kind {
      case .graphQL: (plugin.table.graphQL?.needs ?? 0, plugin.table.graphQL?.mutates ?? 0)
      case .http: (plugin.table.http?.needs ?? 0, plugin.table.http?.mutates ?? 0)
      case .cache: (plugin.table.cache?.needs ?? 0, plugin.table.cache?.mutates ?? 0)
      case .parsing: unsafe (plugin.table.parser?.needs ?? 0, plugin.table.parser?.mutates ?? 0)
      }
    self.needs = Parts(rawValue: needs)
    self.mutates = Parts(rawValue: mutates)
    headerHooks = Hook.allCases.reduce(0) { hooks, hook in
      Contract.rights(.headers, in: hook, of: kind).contains(.write) ? hooks | 1 << UInt32(hook.rawValue) : hooks
    }
  }

  /// Whether a hook of the stage's kind may change headers.
  @inline(__always) func mayWriteHeaders(in hook: Hook) -> Bool { headerHooks >> UInt32(hook.rawValue) & 1 == 1 }
}
