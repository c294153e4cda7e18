/// A place that manifests are read from while the host runs.
package protocol ManifestSource: Sendable {
  /// The state now, for metrics.
  var metrics: SourceMetrics { get }

  /// The list of revocations that the source has beside its manifests; nil for a source without such lists.
  var revocations: PublishedRevocations? { get }

  /// An element for each change of ``revocations``. Read once.
  var revocationChanges: AsyncStream<Void> { get }

  /// Reports the manifest at first and after each change, and each failure, until the task is cancelled. Called once.
  func follow(_ report: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async

  /// Requests the manifest now and returns after the report, if the source is polled. Other sources do nothing.
  func refresh() async

  /// Takes the outcome of a manifest that was reported. Returns at once.
  func note(_ outcome: ManifestOutcome, of manifest: PublishedManifest)

  /// Called when the host ends soon and accepts no more manifests. Returns at once.
  func drain()

  /// Called at the end of the host. A source with a list of nodes removes this one.
  func leave() async
}

/// Only a fleet has lists of revocations, and uses the outcomes of its manifests.
extension ManifestSource {
  package var revocations: PublishedRevocations? { nil }
  package var revocationChanges: AsyncStream<Void> { AsyncStream { $0.finish() } }
  package func note(_ outcome: ManifestOutcome, of manifest: PublishedManifest) {}
  package func drain() {}
  package func leave() async {}
}
