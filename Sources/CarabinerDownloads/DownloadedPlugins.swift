package import CarabinerManifest

/// The downloaded files of a manifest. They stay in the folder as long as this value, or a copy of it, lives.
package struct DownloadedPlugins: Sendable {
  /// The folder of the files; nil if there are none.
  package internal(set) var folder: String?
  /// The files, by digest.
  var files: [String: CachedPlugin] = [:]
  /// The sidecars, by entry; empty if signatures are not checked.
  package internal(set) var sidecars: [String: PluginSidecar] = [:]

  /// The sidecars that could not be renewed.
  package internal(set) var warnings: [ManifestProblem] = []

  package init() {}

  /// The manifest with the files in place of the URLs.
  package func replacingURLs(in manifest: Manifest) -> Manifest {
    manifest.replacingURLs { files[$0]?.path }
  }
}

extension Manifest {
  /// The manifest with the files of a folder in place of the URLs, for a process that downloads nothing. Missing files are reported
  /// when they are loaded.
  ///
  /// - Parameter folder: The folder for downloads; nil if there is none.
  package func usingDownloads(in folder: String?) -> Manifest {
    guard let folder else { return self }
    return replacingURLs { PluginCache.path(of: $0, in: folder) }
  }

  /// - Parameter path: Returns the path of the file with a digest; nil if there is none.
  fileprivate func replacingURLs(_ path: (_ digest: String) -> String?) -> Manifest {
    var changed = self
    for index in plugins.indices {
      guard case .url(_, let digest) = plugins[index].source, let path = path(digest) else { continue }
      changed.plugins[index].source = .file(path, pin: digest)
    }
    return changed
  }
}
