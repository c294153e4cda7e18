/// A place that manifests are read from while the host runs.
package protocol ManifestSource: Sendable {
  /// The state now, for metrics.
  var figures: SourceFigures { get }

  /// Reports the manifest at first and after each change, and each failure, until the task is cancelled. Called once at a time.
  func follow(_ report: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async

  /// Asks now, and returns after the report, if the source is asked from time to time only.
  func refresh() async
}

/// The state of a source, for metrics.
package struct SourceFigures: Sendable, Hashable {
  /// Whether the source answers at the moment.
  package var isUp = false
  /// The revision of the last answer; nil for a source without revisions.
  package var revision: Int64?
  /// The number of failures by kind.
  package var errors: [String: Int] = [:]

  package init() {}
}
