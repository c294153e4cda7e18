internal import CarabinerManifest

/// The results of an endpoint's active checks. The endpoint is healthy until `fall` checks in a row have failed.
struct EndpointHealth: Sendable, Hashable {
  private(set) var isHealthy = true
  /// The number of consecutive results that contradict ``isHealthy``.
  private var contradictions = 0

  /// Records the result of a check.
  ///
  /// - Returns: Whether the health has changed.
  mutating func note(_ succeeded: Bool, _ settings: Manifest.Upstream.HealthCheck) -> Bool {
    guard succeeded != isHealthy else {
      contradictions = 0
      return false
    }
    contradictions += 1
    guard contradictions >= (isHealthy ? settings.fall : settings.rise) else { return false }
    isHealthy = succeeded
    contradictions = 0
    return true
  }
}
