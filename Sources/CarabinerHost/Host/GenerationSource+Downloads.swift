internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerManifest
internal import CarabinerProvider
internal import Logging

extension GenerationSource {
  /// Downloads the plugins of a manifest that have URLs. The caller loads plugins only after that.
  ///
  /// - Parameter isOffline: Whether only files that were downloaded before are used, as for the last good state.
  /// - Throws: ``ManifestError`` with all files that cannot be used.
  func downloads(of manifest: Manifest, isOffline: Bool, needsSidecars: Bool) throws -> DownloadedPlugins {
    guard manifest.plugins.contains(where: { if case .url = $0.source { true } else { false } }) else {
      return DownloadedPlugins()
    }
    let kept = try lastKnownGood()?.pins() ?? []
    let downloaded = try configuration.downloads.files(
      of: manifest, isOffline: isOffline, needsSidecars: needsSidecars, keeping: kept)
    for warning in downloaded.warnings { output.logger.warning("\(output.redacted(warning.description))") }
    return downloaded
  }
}

extension PluginHost.Configuration {
  /// The folder in a state folder that downloads are kept in.
  private static var cacheName: String { "plugins" }

  /// The downloads with the settings of this configuration.
  var downloads: PluginDownloads {
    var limits = downloadLimits
    limits.maximumCacheBytes = maximumPluginCacheBytes
    return PluginDownloads(folder: pluginCache ?? stateDirectory.map { "\($0)/\(Self.cacheName)" }, limits: limits)
  }
}
