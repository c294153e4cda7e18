internal import Carabiner
internal import CarabinerFiles
internal import Glibc

/// The file of a database and the files beside it, which nobody but their owner may write to.
///
/// A store holds answers for whoever asks, so another user who can write to it decides what clients get. That goes for the log and its
/// index beside the file too: the database reads on in a log that it finds.
struct StoreFile {
  /// The place, without symbolic links: the files beside the database lie where the file itself does.
  let path: String
  private let isReadOnly: Bool
  private let mayBeForeign: Bool

  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// - Parameter mayBeForeign: Whether the files may belong to another user, as for root who looks after them.
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

  /// Makes the file if there is none.
  ///
  /// Answers are often for one user's eyes. A node is made and not opened: to close a file takes away the locks that others in this
  /// process hold on it. If it is there, its owner has decided who may read it.
  func make() {
    if !isReadOnly { _ = unsafe mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0) }
  }

  /// Checks that only the owner may write to what is there, and that this is root or the user of this process.
  func check() throws(StoreError) {
    for suffix in Self.suffixes {
      var status = stat()
      guard unsafe lstat(path + suffix, &status) == 0 else { continue }
      guard mayBeForeign || !TrustedPath.isForeign(status) else {
        throw StoreError(
          .unsafe,
          "\(path)\(suffix) belongs to user \(status.st_uid), who could change what is stored; let it belong to \(TrustedPath.userName), "
            + "who runs this, or use another file")
      }
      // Links among these files are followed by nobody; a folder or a device is the database's to refuse.
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
