internal import Glibc

/// A file of a ``PluginCache`` that is not removed while this value lives, also not by other processes that share the folder.
///
/// The lock belongs to the open file, so it ends with the process, however that ends.
package final class CachedPlugin: Sendable {
  /// The path of the file.
  package let path: String
  /// SHA-256 of the file.
  package let digest: String
  private let descriptor: Int32

  /// - Parameter descriptor: The open file with a shared lock. It is closed with this value.
  init(path: String, digest: String, descriptor: Int32) {
    self.path = path
    self.digest = digest
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
