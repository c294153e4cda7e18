internal import Carabiner
internal import CarabinerFiles
internal import Glibc

/// The files of a database: the database itself, its log and the log's index. Only their owner may write to them.
///
/// A user who can write to the store can change the results of all clients. The same applies to the log and its index, because
/// the database reads an existing log.
struct StoreFile {
  /// The path without symbolic links. The other files are in the same folder.
  let path: String
  private let isReadOnly: Bool
  private let mayBeForeign: Bool

  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// - Parameter mayBeForeign: Whether the files may belong to another user, for example when root inspects them.
  init(_ path: String, isReadOnly: Bool, mayBeForeign: Bool) throws(StoreError) {
    self.isReadOnly = isReadOnly
    self.mayBeForeign = mayBeForeign
    do throws(TrustedPath.Fault) {
      self.path = try TrustedPath.resolve(path, mayBeAbsent: true)
    } catch {
      switch error {
      case .absent: self.path = path
      case .unsafe(let reason):
        guard mayBeForeign else { throw StoreError(.unsafe, "the store \(path) is not safe: \(reason)") }
        self.path = path
      }
    }
  }

  /// Creates the file if it does not exist.
  ///
  /// Only its owner may read it, because results are often confidential. The file is created with `mknod` and not opened, because closing
  /// a file releases all locks of this process on it. An existing file keeps its permissions.
  func make() {
    if !isReadOnly { _ = unsafe mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0) }
  }

  /// Checks that only the owner may write to the existing files, and that the owner is root or the user of this process.
  func check() throws(StoreError) {
    for suffix in Self.suffixes {
      var status = stat()
      guard unsafe lstat(path + suffix, &status) == 0 else { continue }
      guard mayBeForeign || !TrustedPath.isForeign(status) else {
        throw StoreError(
          .unsafe,
          "\(path)\(suffix) belongs to user \(status.st_uid), who could change what is stored; let it belong to "
            + "the user of this process, \(TrustedPath.userName), or use another file")
      }
      // The database does not follow links for these files, and rejects folders and devices itself.
      guard suffix.isEmpty || status.st_mode & S_IFMT != S_IFLNK else {
        throw StoreError(.unsafe, "\(path)\(suffix) is a symbolic link, which the database never makes; remove it")
      }
      guard status.st_mode & S_IFMT != S_IFREG || status.st_mode & 0o002 == 0 else {
        throw StoreError(
          .unsafe, "every user may write to \(path)\(suffix) (mode \(String(status.st_mode & 0o7777, radix: 8))); chmod o-w it")
      }
    }
  }
}
