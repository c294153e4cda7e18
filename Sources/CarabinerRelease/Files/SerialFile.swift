internal import CarabinerFiles
internal import Glibc

/// The file that a ``SerialRecord`` is kept in.
package struct SerialFile: Sendable {
  private let path: String

  /// - Parameter path: A file in a folder that only root and the user of this process can change.
  package init(path: String) { self.path = path }

  /// Reads the record. If the file is missing, the record is empty, as on a new node.
  ///
  /// - Throws: ``ReleaseError`` if the file is malformed, cannot be read, or others could change it.
  package func read() throws(ReleaseError) -> SerialRecord {
    if unsafe access(path, F_OK) != 0, errno == ENOENT { return SerialRecord() }
    return try SerialRecord(
      parsing: try ReleaseFile.trusted(path, maximumBytes: SerialRecord.maximumBytes), name: path)
  }

  /// Replaces the file. After a crash of the system there is either the old record or the new one.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be written. Then the old record is still there.
  package func write(_ record: SerialRecord) throws(ReleaseError) {
    let bytes = Array(record.text.utf8)
    guard bytes.count <= SerialRecord.maximumBytes else {
      throw ReleaseError(
        .notWritten, "\(path) would have more than \(SerialRecord.maximumBytes) bytes; remove entries that are not used")
    }
    let temporary = "\(path).\(getpid())"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure() }
    var isDone = Self.write(bytes, to: descriptor) && fsync(descriptor) == 0
    isDone = unsafe isDone && rename(temporary, path) == 0
    let failure = self.failure()
    close(descriptor)
    guard isDone else {
      _ = unsafe unlink(temporary)
      throw failure
    }
    syncFolder()
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Makes the new name last. A file system that cannot do this is not an error: the file is written.
  private func syncFolder() {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private func failure() -> ReleaseError {
    unsafe ReleaseError(
      .notWritten, "\(path) cannot be written: \(String(cString: strerror(errno))); check the folder and the disk")
  }
}
