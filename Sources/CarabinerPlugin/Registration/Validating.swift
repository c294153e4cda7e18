/// For plugins whose configuration can be wrong in ways that no schema can say.
public protocol Validating: Plugin {
  /// Says whether a configuration is good, without any effect. `init` must take what this takes, and nothing else.
  ///
  /// The host asks for no entry in particular: entry name, origin and generation are empty.
  ///
  /// - Throws: Anything; its description is what the operator reads.
  static func validate(_ configuration: PluginConfiguration) throws
}
