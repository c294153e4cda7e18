internal import Glibc

/// An open file or folder that belongs to this user and that nobody else may write to.
struct PrivateFile: ~Copyable {
  private var descriptor: Int32

  /// Opens a file, never through a link.
  ///
  /// - Throws: ``CrashStateError`` if it cannot be opened, or is not ours alone.
  init(opening path: String, _ flags: Int32) throws(CrashStateError) { descriptor = try Self.open(path, flags) }

  private static func open(_ path: String, _ flags: Int32) throws(CrashStateError) -> Int32 {
    // Without waiting: somebody may have put a pipe there.
    let opened = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard opened >= 0 else {
      throw CrashStateError(
        .unreadable, path: path, unsafe "it cannot be opened: \(String(cString: strerror(errno))); look at its permissions")
    }
    var status = stat()
    let isKnown = unsafe fstat(opened, &status) == 0
    let kind = status.st_mode & S_IFMT
    guard isKnown, kind == (flags & O_DIRECTORY != 0 ? S_IFDIR : S_IFREG), status.st_uid == geteuid(), status.st_mode & 0o022 == 0
    else {
      close(opened)
      throw CrashStateError(
        .notOurs, path: path,
        "it is no \(flags & O_DIRECTORY != 0 ? "folder" : "file") of this user that nobody else may write to; remove it, or correct "
          + "owner and permissions")
    }
    return opened
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Locks it against other processes; false if one of them has it.
  func lock(waiting: Bool = false) -> Bool { flock(descriptor, waiting ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 }

  /// Whether it still has a name.
  var isLinked: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Hands the descriptor over; it is not closed any more.
  consuming func release() -> Int32 {
    let released = descriptor
    descriptor = -1
    return released
  }

  /// What it holds; nil if that is more than `limit` bytes, or cannot be read.
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

  /// Writes these bytes and waits until they are on the disk; false if that cannot be done.
  func write(_ bytes: [UInt8]) -> Bool { StagedCopy.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0 }
}
