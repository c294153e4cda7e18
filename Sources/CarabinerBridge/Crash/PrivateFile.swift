internal import Glibc

/// An open file or folder of this user that other users may not write to.
package struct PrivateFile: ~Copyable {
  private var descriptor: Int32

  /// Opens a file without following a symbolic link.
  ///
  /// - Throws: ``HostError`` if the file cannot be opened, belongs to another user, or others may write to it.
  package init(opening path: String, _ flags: Int32) throws(HostError) { descriptor = try Self.open(path, flags) }

  private static func open(_ path: String, _ flags: Int32) throws(HostError) -> Int32 {
    // O_NONBLOCK: if the path is a FIFO, open would wait.
    let opened = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard opened >= 0 else {
      throw HostError(
        .unreadable, step: "crash records", path: path,
        unsafe "it cannot be opened: \(String(cString: strerror(errno))); look at its permissions")
    }
    var status = stat()
    let isKnown = unsafe fstat(opened, &status) == 0
    let kind = status.st_mode & S_IFMT
    guard isKnown, kind == (flags & O_DIRECTORY != 0 ? S_IFDIR : S_IFREG), status.st_uid == geteuid(), status.st_mode & 0o022 == 0
    else {
      close(opened)
      throw HostError(
        .notOurs, step: "crash records", path: path,
        "it is not a \(flags & O_DIRECTORY != 0 ? "folder" : "regular file") of this user, or others may write to it; remove it, or "
          + "correct owner and permissions")
    }
    return opened
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Locks the file against other processes.
  ///
  /// - Returns: Whether the lock was acquired; false if another process has it.
  func lock(waiting: Bool = false) -> Bool { flock(descriptor, waiting ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 }

  /// Whether the file still has a name, that is, was not removed.
  var isLinked: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Transfers the descriptor to the caller, who closes it.
  consuming func release() -> Int32 {
    let released = descriptor
    descriptor = -1
    return released
  }

  /// The file's contents; nil if they have more than `limit` bytes or cannot be read.
  func contents(limit: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var used = 0
    while used <= limit {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress.map { unsafe $0 + used }, limit + 1 - used)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      guard count > 0 else { return Array(bytes[..<used]) }
      used += count
    }
    return nil
  }
}
