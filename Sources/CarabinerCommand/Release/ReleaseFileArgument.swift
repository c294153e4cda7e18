internal import CarabinerFiles
internal import CarabinerRelease

/// A file to make a statement about, or to verify.
enum ReleaseFileArgument {
  /// The maximum size of a file, 512 MiB as for plugins.
  static let maximumBytes = 512 << 20

  /// - Throws: ``ReleaseError`` if the file cannot be read.
  static func identity(of path: String) throws(ReleaseError) -> FileIdentity {
    do throws(BoundedFile.Fault) {
      return FileIdentity(of: try BoundedFile.bytes(at: path, maximumBytes: maximumBytes))
    } catch {
      switch error {
      case .unreadable(let reason): throw ReleaseError(.unreadable, "\(path) cannot be read: \(reason); check the path")
      case .tooLarge, .notText: throw ReleaseError(.unreadable, "\(path) has more than the \(maximumBytes) bytes allowed")
      }
    }
  }
}
