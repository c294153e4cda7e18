internal import CProgram
internal import CarabinerBridge

/// The version of Carabiner.
package enum ServerVersion {
  /// The version, as `carabiner --version` prints it.
  package static let text = "1.0.0"
  /// The commit it was built from; `unknown` if the build did not say.
  package static let commit = known(unsafe String(cString: CProgram_commit()))
  /// The version of Swift that built it; `unknown` if the build did not say.
  package static let swift = known(SwiftRuntime.hostVersion)

  /// The output of `carabiner --version --verbose`.
  package static var details: String { "\(text)\ncommit: \(commit)\nswift: \(swift)" }

  private static func known(_ text: String) -> String { text.isEmpty ? "unknown" : text }
}
