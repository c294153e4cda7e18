internal import CarabinerRelease

/// A file of a generation that has been revoked since it was loaded.
struct RevokedRelease: Sendable, Hashable {
  /// The entry of the plugin; nil for the manifest.
  let entry: String?
  /// Why the file is revoked.
  let reason: String
}

extension VerifiedReleases {
  /// The files that are revoked by a list.
  ///
  /// - Parameter threshold: How many keys must have signed. Revoked ones do not count.
  func revoked(by list: RevocationList, threshold: Int) -> [RevokedRelease] {
    var all: [(entry: String?, release: VerifiedRelease)] = []
    if let manifest { all.append((nil, manifest.file.release)) }
    for (entry, file) in plugins.sorted(by: { $0.key < $1.key }) { all.append((entry, file.release)) }
    return all.compactMap { entry, release in
      if let reason = list.reason(against: release.statement) { return RevokedRelease(entry: entry, reason: reason) }
      let keys = release.signers.map(\.key)
      let left = keys.count { !list.revokes($0) }
      guard left < threshold, let revoked = keys.first(where: list.revokes) else { return nil }
      return RevokedRelease(
        entry: entry, reason: "the key \(revoked.fingerprint) that signed \(release.statement.subject) is revoked")
    }
  }
}
