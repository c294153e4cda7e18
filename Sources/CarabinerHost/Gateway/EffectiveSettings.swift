internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerRESP
internal import CarabinerWire
internal import Logging

/// The settings of a gateway under a manifest: a flag wins over the manifest, and the manifest over the default.
struct EffectiveSettings: Sendable {
  let paths: [String]
  let limits: GatewayLimits
  /// The listeners of the manifest; nil if it names none.
  let listeners: [Manifest.Listener]?
  private let trustedProxies: [IPNetwork]
  private let sendsForwardedFields: Bool
  private let isReadyWithUpstream: Bool
  /// All settings by name, for `carabiner status --settings`.
  let list: [EffectiveSetting]

  init(_ configuration: Gateway.Configuration, _ manifest: Manifest, _ logger: Logger) {
    let flags = configuration.flags
    let (paths, pathsSource) = Self.choose(flags.path.map { [$0] }, manifest.serve.paths, [configuration.path])
    let limits = configuration.limits.applying(manifest.serve.limits.merging(flags.limits) { _, flag in flag })
    self.paths = paths
    listeners = manifest.serve.listeners
    let (proxies, proxiesSource) = Self.choose(nil, manifest.serve.trustedProxies, [])
    let (sendsFields, fieldsSource) = Self.choose(nil, manifest.serve.sendsForwardedFields, false)
    let (needsUpstream, upstreamSource) = Self.choose(nil, manifest.serve.isReadyWithUpstream, false)
    trustedProxies = proxies
    isReadyWithUpstream = needsUpstream
    sendsForwardedFields = sendsFields
    self.limits = flags.areOfCommand ? DescriptorLimit.fitting(limits, logger) : limits
    list =
      [
        EffectiveSetting(name: "serve/paths", value: Self.text(paths), source: pathsSource),
        EffectiveSetting(name: "serve/trusted-proxies", value: Self.text(proxies.map(\.description)), source: proxiesSource),
        EffectiveSetting(name: "serve/forwarded-fields", value: "\(sendsFields)", source: fieldsSource),
        EffectiveSetting(name: "serve/ready/upstream", value: "\(needsUpstream)", source: upstreamSource),
      ]
      + Self.list(manifest.serve) + Self.list(limits, flags.limits, manifest.serve.limits) + flags.others
  }

  /// The settings of the shared state and of idempotency, if the manifest has them.
  private static func list(_ serve: Manifest.Serve) -> [EffectiveSetting] {
    var found: [(String, String, isUsual: Bool)] = []
    if let shared = serve.shared {
      found.append(("shared/urls", text(shared.servers.urls.map(\.description)), false))
      found.append(("shared/sync", DurationText.print(shared.sync), shared.sync == Manifest.Shared.defaultSync))
      found.append(("shared/budget", DurationText.print(shared.budget), shared.budget == Manifest.Shared.defaultBudget))
    }
    if let rule = serve.idempotency {
      let usual = Manifest.Idempotency()
      found.append(("idempotency/header", rule.header, rule.header == usual.header))
      found.append(("idempotency/keep", DurationText.print(rule.keep), rule.keep == usual.keep))
      found.append(("idempotency/body", ByteSizeText.print(rule.bodyBytes), rule.bodyBytes == usual.bodyBytes))
      found.append(("idempotency/on-unavailable", rule.unavailable.rawValue, rule.unavailable == usual.unavailable))
    }
    return found.map { EffectiveSetting(name: "serve/\($0.0)", value: $0.1, source: $0.isUsual ? .default : .manifest) }
  }

  /// The settings for requests and connections.
  func gateway(sharing shared: SharedState? = nil, replacing predecessor: GatewaySettings? = nil) -> GatewaySettings {
    GatewaySettings(
      paths: paths, limits: limits, trustedProxies: trustedProxies, sendsForwardedFields: sendsForwardedFields,
      isReadyWithUpstream: isReadyWithUpstream, shared: shared, replacing: predecessor)
  }

  private static func text(_ texts: [String]) -> String { "[\(texts.joined(separator: ", "))]" }

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
