internal import CCarabiner
internal import CarabinerABI

/// An instance in one place of the chain.
final class StageBinding: Sendable {
  let plugin: PluginInstance
  let kind: StageKind
  let needs: Parts
  let mutates: Parts

  init(_ plugin: PluginInstance, _ kind: StageKind) {
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
  }
}
