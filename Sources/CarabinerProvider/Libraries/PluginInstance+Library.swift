package import CarabinerBridge

extension PluginInstance {
  /// Creates an instance of an interceptor of a library.
  ///
  /// - Throws: ``HostError`` with the plugin's message about its configuration.
  package convenience init(_ interceptor: PluginInterceptor, library: PluginLibrary, options: Options) throws {
    try unsafe self.init(
      interceptor, library.host, path: library.path, digest: library.digest, options,
      makeRemote: library.instances(of: interceptor, options))
  }
}
