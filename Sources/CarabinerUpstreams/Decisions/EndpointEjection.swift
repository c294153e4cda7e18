internal import CarabinerManifest

/// The consecutive failures of an endpoint, and its ejection. Times are measured from any fixed instant.
struct EndpointEjection: Sendable, Hashable {
  private var failures = 0
  /// The number of ejections without a good response between them.
  private(set) var ejections = 0
  /// When the ejection ends; nil if the endpoint is not ejected.
  private(set) var end: Duration?

  /// Whether the endpoint is ejected.
  func isEjected(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

  /// Records the outcome of an attempt.
  ///
  /// - Returns: Whether the endpoint should be ejected now.
  mutating func note(_ outcome: AttemptOutcome, at now: Duration, _ settings: Manifest.Upstream.Outliers) -> Bool {
    // An attempt that began before an ejection does not show whether the endpoint works after it.
    guard !isEjected(at: now), let isFailure = outcome.isFailure else { return false }
    guard isFailure else {
      (failures, ejections) = (0, 0)
      return false
    }
    failures += 1
    return failures >= settings.failures
  }

  /// Ejects the endpoint. The time grows with ``ejections``.
  mutating func eject(at now: Duration, _ settings: Manifest.Upstream.Outliers) {
    failures = 0
    ejections += 1
    end = now + min(settings.maximumEjection, settings.ejection * ejections)
  }

  /// The maximum number of endpoints that may be ejected at the same time.
  static func limit(of count: Int, _ settings: Manifest.Upstream.Outliers) -> Int {
    max(1, Int(settings.maximumEjected * Double(count)))
  }
}
