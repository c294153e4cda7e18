package import CarabinerManifest

extension Manifest {
  /// The same manifest with the digest of each file pinned, so that the files that were checked are those that are loaded.
  ///
  /// - Parameter digests: SHA-256, by entry. A pin of the manifest itself is kept.
  package func pinning(_ digests: [String: String]) -> Manifest {
    var pinned = self
    for index in pinned.plugins.indices {
      guard case .file(let path, nil) = pinned.plugins[index].source else { continue }
      pinned.plugins[index].source = .file(path, pin: digests[pinned.plugins[index].name])
    }
    return pinned
  }
}
