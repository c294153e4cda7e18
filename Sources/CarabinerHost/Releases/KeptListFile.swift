internal import CarabinerFiles
internal import CarabinerRelease
internal import CarabinerWire
internal import Glibc

/// The file in the folder of `--state` with the last list of revocations of a fleet.
struct KeptListFile: Sendable {
  // List and sidecar are ASCII, and JSON writes each of their bytes with two bytes at most.
  private static let maximumBytes = 2 * (RevocationList.maximumBytes + ReleaseSidecar.maximumBytes) + 64

  let path: String

  /// Reads the file; nil if there is none.
  ///
  /// - Throws: ``ReleaseError`` if it is malformed, cannot be read, or others could change it. Such a file is not ignored: that would
  ///   permit what it revokes.
  func read() throws(ReleaseError) -> KeptList? {
    if unsafe access(path, F_OK) != 0, errno == ENOENT { return nil }
    let bytes = try ReleaseFile.trusted(path, maximumBytes: Self.maximumBytes)
    guard let json = try? JSONValue(parsing: bytes), let list = json["list"]?.string, let sidecar = json["sidecar"]?.string,
      let kept = try? KeptList(bytes: Array(list.utf8), sidecar: Array(sidecar.utf8)),
      kept.statement.file == FileIdentity(of: kept.bytes)
    else {
      throw ReleaseError(
        .invalidFile, "\(path) cannot be used; restore it from a backup, or remove it, which permits older lists of revocations")
    }
    return kept
  }

  /// Replaces the file. After a crash of the system there is either the old list or the new one.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be written. Then the old list is still there.
  func write(_ kept: KeptList) throws(ReleaseError) {
    let json: JSONValue = [
      "list": .string(String(decoding: kept.bytes, as: UTF8.self)),
      "sidecar": .string(String(decoding: kept.sidecar, as: UTF8.self)),
    ]
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(json.serialized(), to: path, mode: 0o600)
    } catch {
      throw ReleaseError(.notWritten, "\(path) cannot be written: \(error.reason); check the folder and the disk")
    }
  }

  /// Removes the file.
  ///
  /// - Returns: Whether there was one.
  func remove() throws(ReleaseError) -> Bool {
    if unsafe unlink(path) == 0 { return true }
    guard errno == ENOENT else {
      throw ReleaseError(
        .notWritten, unsafe "\(path) cannot be removed: \(String(cString: strerror(errno))); check the folder")
    }
    return false
  }
}
