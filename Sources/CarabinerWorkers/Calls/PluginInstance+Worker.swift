internal import CarabinerBridge

extension PluginInstance {
  /// The instance in a worker; nil if the plugin runs in this process.
  var worker: WorkerInstance? { remote as? WorkerInstance }
}
