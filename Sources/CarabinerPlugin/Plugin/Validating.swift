/// For plugins whose configuration can have errors that a schema cannot describe.
public protocol Validating: Plugin {
  /// Validates a configuration without side effects. It must accept exactly the configurations that `init` accepts.
  ///
  /// Entry name, origin and generation are empty here, because the host validates no particular entry.
  ///
  /// - Throws: Any error. Its description is shown to the operator.
  static func validate(_ configuration: PluginConfiguration) throws
}
