internal import Glibc

/// Replaces files as a whole.
///
/// After an error, or a crash of the system, there is either the old file or the new one.
package enum FileReplacement {
  /// The reason why a file was not replaced. The old file, if any, is unchanged.
  package struct Fault: Error, Hashable {
    /// The message of the system, for example "No space left on device".
    package let reason: String
  }

  /// Replaces a file, or creates it.
  ///
  /// The bytes are written to a new file beside it, which gets the name when they are on the disk.
  ///
  /// - Parameters:
  ///   - path: A file in a folder that only root and the user of this process can change.
  ///   - mode: The permissions of the new file, whatever the umask.
  ///   - isLasting: Whether the bytes are on the disk at the end. If not, a crash of the system may lose them.
  package static func write(
    _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, isLasting: Bool = true
  ) throws(Fault) {
    // The name is random: processes in containers have equal ids.
    let temporary = "\(path).\(String(UInt64.random(in: 0...(.max)), radix: 16))"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Fault.current }
    defer { close(descriptor) }
    guard writeAll(bytes, to: descriptor), fchmod(descriptor, mode) == 0,
      !isLasting || fsync(descriptor) == 0, unsafe rename(temporary, path) == 0
    else {
      let fault = Fault.current
      _ = unsafe unlink(temporary)
      throw fault
    }
    if isLasting { syncFolder(of: path) }
  }

  /// Writes all bytes to an open file.
  ///
  /// - Returns: Whether all were written. If not, `errno` has the reason.
  package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe writeAll($0, to: descriptor) }
  }

  /// Writes all bytes to an open file.
  ///
  /// - Returns: Whether all were written. If not, `errno` has the reason.
  package static func writeAll(_ buffer: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var done = 0
    while done < buffer.count {
      let count = unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Makes the new name last. A file system that cannot do this is not an error: the file is written.
  package static func syncFolder(of path: String) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}

extension FileReplacement.Fault {
  /// The last failure of a call of the system.
  fileprivate static var current: Self { Self(reason: unsafe String(cString: strerror(errno))) }
}
