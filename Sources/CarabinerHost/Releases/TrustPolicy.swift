internal import CarabinerRelease
package import Foundation

/// The operator's decision about the manifests and plugins that are accepted.
package struct TrustPolicy: Sendable {
  /// The path of the trust file.
  package var file: String
  /// How many different keys must have signed.
  package var threshold: Int
  /// The keys, files and serials that are not accepted; nil for none.
  package var revocations: Revocations?
  /// Whether plugins whose files are revoked while they serve are switched off.
  package var enforcesRevocation: Bool
  /// The clock.
  package var now: @Sendable () -> Date

  /// - Parameter revoked: The path of the list of revocations; nil for none.
  package init(
    file: String, threshold: Int = 1, revoked: String? = nil, enforcesRevocation: Bool = false,
    now: @escaping @Sendable () -> Date = { .now }
  ) {
    self.file = file
    self.threshold = threshold
    revocations = revoked.map { Revocations(path: $0) }
    self.enforcesRevocation = enforcesRevocation
    self.now = now
  }

  /// The current second.
  var time: ReleaseTime { ReleaseTime(seconds: Int(now().timeIntervalSince1970)) }

  /// The files that decide whether other files are accepted: the trust file, the list of revocations, and the sidecars.
  func deciding(on files: [String]) -> [String] {
    [file] + (revocations?.path.map { [$0] } ?? []) + files.map { $0 + ReleaseSidecar.suffix }
  }
}
