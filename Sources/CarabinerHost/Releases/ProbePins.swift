package import CarabinerManifest
internal import CarabinerRelease

/// The digests of files that were verified. The child process of ``PluginProbe`` reads the files again, and uses only files with these
/// digests.
package struct ProbePins: Sendable {
  /// SHA-256 of the manifest.
  package var manifest: String
  /// SHA-256 of plugins, by entry.
  package var plugins: [String: String]

  package init(manifest: String, plugins: [String: String] = [:]) {
    self.manifest = manifest
    self.plugins = plugins
  }

  /// Reads the arguments of a child process.
  ///
  /// - Parameter plugins: `NAME=DIGEST` for each plugin.
  package init?(manifest: String?, plugins: [String]) {
    guard let manifest else { return nil }
    let pairs = plugins.compactMap { text in
      text.lastIndex(of: "=").map { (String(text[..<$0]), String(text[$0...].dropFirst())) }
    }
    self.init(manifest: manifest, plugins: Dictionary(pairs) { first, _ in first })
  }

  var arguments: [String] {
    ["--manifest-digest", manifest] + plugins.sorted { $0.key < $1.key }.flatMap { ["--pin", "\($0.key)=\($0.value)"] }
  }

  /// Reads the manifest again.
  ///
  /// - Throws: ``ManifestError`` if it has another digest.
  package func manifest(at path: String) throws -> Manifest {
    try Manifest.load(path: path, isCopy: true) { bytes throws(ManifestError) in
      guard FileIdentity(of: bytes).digest == manifest else {
        throw ManifestError(
          path: path, problems: [ManifestProblem(.unreadable, "the manifest changed after it was verified; load it again")])
      }
    }.pinning(plugins)
  }
}
