/// Where a host keeps the private copies of plugins that it maps.
package enum StagingMode: String, Sendable, Hashable {
  /// In a private folder, by the digest of its contents: debuggers and profilers find the file by its path.
  case directory
  /// In memory, sealed against every change, also by this process. Each version of a plugin keeps one descriptor open.
  case memfd

  /// Where they are unless the manifest says otherwise.
  package static let standard = StagingMode.memfd
}
