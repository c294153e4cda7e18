package import CarabinerManifest

/// Downloads the plugin files that a manifest names by URL into a folder.
package struct PluginDownloads: Sendable {
  /// The folder; nil if there is none, and manifests with URLs are refused.
  package let folder: String?
  private let limits: DownloadLimits

  package init(folder: String?, limits: DownloadLimits = DownloadLimits()) {
    self.folder = folder
    self.limits = limits
  }

  /// Downloads the files that are not there yet, and removes old ones.
  ///
  /// It blocks, and is not for threads that serve clients. A manifest without URLs costs nothing.
  ///
  /// - Parameters:
  ///   - isOffline: Whether only files that are there already are used. The others are left out.
  ///   - needsSidecars: Whether signatures are checked. Then each sidecar is asked for again. If that fails, the kept one is used.
  ///   - kept: Digests of files that are not removed.
  /// - Throws: ``ManifestError`` with all files that cannot be used.
  package func files(
    of manifest: Manifest, isOffline: Bool = false, needsSidecars: Bool = false, keeping kept: Set<String> = []
  ) throws -> DownloadedPlugins {
    let entries = manifest.plugins.compactMap(DownloadEntry.init)
    guard let first = entries.first else { return DownloadedPlugins() }
    do {
      guard let folder else {
        if isOffline { return DownloadedPlugins() }
        throw ManifestProblem(
          .downloadFailed, at: first.pointer,
          "plugins with url need a folder for the files; give --plugin-cache DIR, or --state DIR to carabiner serve")
      }
      let cache: PluginCache
      do throws(DownloadError) {
        cache = try PluginCache(folder: folder)
      } catch {
        throw first.problem(error)
      }
      var round = DownloadRound(manifest: manifest, entries: entries, cache: cache, limits: limits)
      if isOffline {
        round.findFiles()
        return round.found
      }
      // Also before the downloads and after a failure, or a full disk would stay full.
      let needed = kept.union(entries.map(\.digest))
      cache.evict(downTo: limits.maximumCacheBytes, keeping: needed)
      defer { cache.evict(downTo: limits.maximumCacheBytes, keeping: kept) }
      try round.downloadFiles()
      if needsSidecars { try round.downloadSidecars() }
      return round.found
    } catch let problem as ManifestProblem {
      throw ManifestError(path: manifest.path, problems: manifest.placed([problem]))
    }
  }
}
