/// The kind of file that a statement is about.
package enum ReleaseKind: String, Sendable, Hashable, CaseIterable {
  case plugin
  case manifest
  /// A list of revocations.
  case revoked
  /// The checksums of a version of Carabiner.
  case release
}
