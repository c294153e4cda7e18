internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerHost
internal import CarabinerManifest

/// The option for the manifest.
struct ManifestOptions: ParsableArguments {
  @Option(
    name: [.customShort("m"), .customLong("manifest")],
    help: "The manifest, YAML or JSON. Without it the chain is the built-in default.")
  var path: String?

  /// The manifest, or an empty one if none is given.
  ///
  /// - Parameter trust: The keys that must have signed the manifest; nil if its signature is not checked.
  func manifest(trusting trust: TrustPolicy? = nil) throws -> Manifest {
    guard let path else { return Manifest() }
    guard let trust else { return try Manifest.load(path: path) }
    return try ReleaseCheck(trust).manifest(at: path).manifest
  }

  /// The manifest with its plugins pinned, or an empty one if none is given.
  ///
  /// - Parameters:
  ///   - trust: The keys that must have signed the manifest and the plugins; nil if signatures are not checked, and nothing is pinned.
  ///   - downloads: Downloads the plugins with URLs.
  /// - Returns: Also the files that were downloaded.
  func pinnedManifest(
    trusting trust: TrustPolicy?, _ downloads: PluginDownloads
  ) throws -> (manifest: Manifest, downloaded: DownloadedPlugins) {
    guard let path, let trust else {
      let written = try manifest()
      let downloaded = try downloads.files(of: written)
      return (downloaded.replacingURLs(in: written), downloaded)
    }
    return try ReleaseCheck(trust).pinnedManifest(at: path, downloads)
  }
}
