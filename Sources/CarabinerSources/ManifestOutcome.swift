/// The outcome of a manifest of a source in its host.
package enum ManifestOutcome: Sendable, Hashable {
  /// It serves, as the generation with this number.
  case serves(generation: UInt64)
  /// It runs a share of the operations first, as the manifest requests.
  case onTrial
  /// It does not serve, for this reason.
  case refused(String)
  /// It was on trial, and does not serve for this reason.
  case rolledBack(String)
}
