/// The place of the private plugin copies that a host maps.
package enum StagingMode: String, Sendable, Hashable, CaseIterable {
  /// A private folder, named by the digest of the contents. Debuggers and profilers find the files by their paths.
  case directory
  /// Sealed memory, which no process can change. Each version of a plugin keeps one descriptor open.
  case memfd

  /// The default.
  package static let standard = StagingMode.memfd
}
