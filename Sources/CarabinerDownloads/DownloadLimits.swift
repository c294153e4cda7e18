/// The limits of downloads. The defaults are those of a gateway.
package struct DownloadLimits: Sendable, Hashable {
  /// The largest file in bytes, 256 MiB.
  package var maximumFileBytes = 256 << 20
  /// The time that one file may take, redirects included.
  package var timeout = Duration.seconds(60)
  /// The time that one sidecar may take. A kept one counts if that fails, so a slow server does not delay a start for long.
  package var sidecarTimeout = Duration.seconds(5)
  /// How many files are downloaded at a time.
  package var concurrency = 4
  /// How many redirects are followed for one file.
  package var maximumRedirects = 3
  /// The size of the folder for downloads above which old files are removed, 1 GiB.
  package var maximumCacheBytes = 1 << 30

  package init() {}
}
