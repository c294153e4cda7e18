internal import CarabinerGateway
internal import CarabinerManifest
internal import Logging

/// The settings of a gateway under a manifest: a flag wins over the manifest, and the manifest over the default.
struct EffectiveSettings: Sendable {
  let paths: [String]
  let limits: GatewayLimits
  /// All settings by name, for `carabiner status --settings`.
  let list: [EffectiveSetting]

  init(_ configuration: Gateway.Configuration, _ manifest: Manifest, _ logger: Logger) {
    let flags = configuration.flags
    let (paths, pathsSource) = Self.choose(flags.path.map { [$0] }, manifest.serve.paths, [configuration.path])
    let limits = configuration.limits.applying(manifest.serve.limits.merging(flags.limits) { _, flag in flag })
    self.paths = paths
    self.limits = flags.areOfCommand ? DescriptorLimit.fitting(limits, logger) : limits
    list =
      [EffectiveSetting(name: "serve/paths", value: "[\(paths.joined(separator: ", "))]", source: pathsSource)]
      + Self.list(limits, flags.limits, manifest.serve.limits) + flags.others
  }

  private static func list(
    _ limits: GatewayLimits, _ flags: [ServeLimit: LimitValue], _ manifest: [ServeLimit: LimitValue]
  ) -> [EffectiveSetting] {
    ServeLimit.allCases.map { limit in
      let source: EffectiveSetting.Source = flags[limit] != nil ? .flag : manifest[limit] != nil ? .manifest : .default
      let value = limits.value(of: limit)?.text(of: limit.kind) ?? "none"
      return EffectiveSetting(name: "serve/limits/\(limit.rawValue)", value: value, source: source)
    }
  }

  private static func choose<Value>(_ flag: Value?, _ manifest: Value?, _ other: Value) -> (Value, EffectiveSetting.Source) {
    if let flag { return (flag, .flag) }
    if let manifest { return (manifest, .manifest) }
    return (other, .default)
  }
}
