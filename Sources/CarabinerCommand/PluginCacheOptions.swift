internal import ArgumentParser
internal import CarabinerDownloads
internal import CarabinerHost

/// The options for plugins that the manifest names by URL.
struct PluginCacheOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The folder for plugins that the manifest names by url. Several processes can share it. With --state DIR, DIR/plugins if it is not given.",
      valueName: "dir"))
  var pluginCache: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The size of --plugin-cache above which old files that are not in use are removed. Without this option, only serve removes files. (default: 1GiB)",
      valueName: "size"),
    transform: size)
  var pluginCacheSize: Int?

  /// The downloads of a command that has no state folder.
  var downloads: PluginDownloads {
    var limits = DownloadLimits()
    limits.maximumCacheBytes = pluginCacheSize ?? .max
    return PluginDownloads(folder: pluginCache, limits: limits)
  }

  /// Sets the options in the configuration of a host.
  func configure(_ configuration: inout PluginHost.Configuration) {
    configuration.pluginCache = pluginCache
    if let pluginCacheSize { configuration.maximumPluginCacheBytes = pluginCacheSize }
  }
}
