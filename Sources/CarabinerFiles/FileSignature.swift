internal import Glibc

/// The state of a file, to detect changes without reading it.
///
/// Symbolic links are followed, because the folder of a ConfigMap changes only by a link.
package enum FileSignature: Sendable, Hashable {
  case absent
  /// For anything but a regular file, only its existence is compared.
  case present
  case file(device: UInt64, inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int)

  /// The state of a file now.
  package init(of path: String) {
    var status = stat()
    guard unsafe fstatat(AT_FDCWD, path, &status, 0) == 0 else {
      self = .absent
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      self = .present
      return
    }
    self = .file(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec)
  }

  /// The states of several files now.
  package static func of(_ paths: some Sequence<String>) -> [String: FileSignature] {
    Dictionary(paths.map { ($0, FileSignature(of: $0)) }) { first, _ in first }
  }
}
