internal import Carabiner
internal import CarabinerDigest
internal import CarabinerFiles
internal import FoundationEssentials
internal import Glibc

/// A plugin's file as the operator named it. It is opened once, checked on the open descriptor, and read completely.
///
/// The file is not read again: the host checks and loads these bytes only.
package struct PluginFile {
  /// The largest plugin, 512 MiB.
  package static let maximumBytes = 512 << 20
  /// For this long after a change, a file's times are too coarse to detect another change.
  private static let youngSeconds = 2

  package let path: String
  package let bytes: [UInt8]
  /// SHA-256 of the bytes, in lower-case digits.
  package let digest: String

  /// Opens, checks and reads a file.
  ///
  /// - Throws: ``HostError`` if other users can change the file or a folder of its path, or if it is not a regular file of at
  ///   most ``maximumBytes``.
  package init(opening path: String) throws(HostError) {
    self.path = path
    // O_NONBLOCK: a FIFO would make open wait for a writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw HostError(
        .notFound, step: "open", path: path,
        unsafe "the file cannot be opened: \(String(cString: strerror(errno))); check the path in the manifest and the file's permissions"
      )
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw HostError(.notAFile, step: "open", path: path, "this is not a regular file; name the plugin's .so")
    }
    try Self.checkOwner(status, path: path)
    try Self.checkWay(to: path, status)
    guard status.st_size <= Self.maximumBytes else {
      throw HostError(
        .tooLarge, step: "open", path: path, "the file has \(status.st_size) bytes, more than the \(Self.maximumBytes) allowed")
    }
    let bytes = try Self.read(descriptor, count: Int(status.st_size), path: path)
    try Self.checkUnchanged(descriptor, since: status, bytes: bytes, path: path)
    self.bytes = bytes
    digest = Digest.sha256(bytes).hexDigits
  }

  /// Compares the digest of the file with its pin.
  ///
  /// - Throws: ``HostError`` with code `pinMismatch`.
  package func check(_ pin: String?) throws(HostError) {
    guard pin == nil || pin?.lowercased() == digest else {
      throw HostError(
        .pinMismatch, step: "pin", path: path,
        "the file's SHA-256 is \(digest) but the manifest pins \(pin ?? ""); put the right file in place, or change the pin if you "
          + "meant to update it")
    }
  }

  /// Reads `count` bytes, or fewer if the file ends before.
  static func read(_ descriptor: Int32, count: Int, path: String) throws(HostError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(count, 1)) { buffer, filled in
      while filled < count {
        let got = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled)
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        guard got > 0 else { return }
        filled += got
      }
    }
    guard failure == 0 else {
      throw HostError(
        .unreadable, step: "read", path: path, unsafe "the file cannot be read: \(String(cString: strerror(failure)))")
    }
    return bytes
  }

  /// Refuses a file that was written to while it was read: the bytes would be a mix of two versions.
  ///
  /// Times have the resolution of the kernel's clock and do not show a change just made. A recently changed file is therefore
  /// read twice and compared.
  private static func checkUnchanged(
    _ descriptor: Int32, since before: stat, bytes: [UInt8], path: String
  ) throws(HostError) {
    var after = stat()
    var isSame =
      unsafe fstat(descriptor, &after) == 0 && after.st_size == before.st_size && bytes.count == Int(before.st_size)
      && after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec
      && after.st_ctim.tv_sec == before.st_ctim.tv_sec && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec
    if isSame, before.st_ctim.tv_sec >= time(nil) - youngSeconds {
      lseek(descriptor, 0, SEEK_SET)
      isSame = try read(descriptor, count: bytes.count, path: path) == bytes
    }
    guard isSame else {
      throw HostError(
        .changed, step: "read", path: path,
        "the file changed while it was read; put a new version in place in one step, with mv, and load it again")
    }
  }

  private static func checkOwner(_ status: stat, path: String) throws(HostError) {
    guard !TrustedPath.isForeign(status) else {
      throw HostError(
        .unsafeOwner, step: "owner", path: path,
        "the file belongs to user \(status.st_uid), who could change it; let it belong to root or to the user of this "
          + "process, \(TrustedPath.userName)\(userAdvice)")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw HostError(
        .unsafeMode, step: "mode", path: path,
        "others than its owner may write to the file (mode \(String(status.st_mode & 0o7777, radix: 8))); chmod go-w it")
    }
  }

  /// Checks the folders of the path, and that the path leads to the open file.
  private static func checkWay(to path: String, _ status: stat) throws(HostError) {
    let resolved: String
    do throws(TrustedPath.Fault) {
      resolved = try TrustedPath.resolve(path)
    } catch {
      switch error {
      case .absent(let reason):
        throw HostError(.notFound, step: "parents", path: path, "the file's folders cannot be followed: \(reason)")
      case .unsafe(let reason): throw HostError(.unsafeParent, step: "parents", path: path, reason + userAdvice)
      }
    }
    var found = stat()
    guard unsafe lstat(resolved, &found) == 0, found.st_dev == status.st_dev, found.st_ino == status.st_ino else {
      throw HostError(.changed, step: "parents", path: path, "another file was put in place while it was opened; load it again")
    }
  }

  /// Advice for root: files that belong to the gateway's user are refused when root checks them, and the other way round.
  private static var userAdvice: String {
    geteuid() == 0 ? "; if the gateway runs as another user, check it with carabiner check --user NAME" : ""
  }
}
