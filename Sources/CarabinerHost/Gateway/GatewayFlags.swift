package import CarabinerManifest

/// The flags of `carabiner serve` that replace keys of the manifest.
package struct GatewayFlags: Sendable {
  /// The only path of the gateway; nil for those of the manifest.
  package var path: String?
  /// The limits that flags name.
  package var limits: [ServeLimit: LimitValue] = [:]
  /// The flags without a key in the manifest, for `carabiner status --settings`.
  package var others: [EffectiveSetting] = []
  /// Whether the gateway belongs to `carabiner serve`. If so, the descriptor limit of the process also limits the connections.
  package var areOfCommand = false

  /// No flags.
  package init() {}
}
