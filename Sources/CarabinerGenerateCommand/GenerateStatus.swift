internal import ArgumentParser

/// The exit status of the commands of this module, as in `carabiner`.
enum GenerateStatus {
  /// A file would change.
  static let outdated = ExitCode(1)
  /// The arguments are wrong.
  static let usage = ExitCode(2)
  /// The configuration, the schema or a document has a fault, or a file cannot be written.
  static let refused = ExitCode(3)
}
