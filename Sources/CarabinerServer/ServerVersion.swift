/// The version of Carabiner.
package enum ServerVersion {
  /// The version, as `carabiner --version` prints it.
  package static let text = "1.0.0"
}
