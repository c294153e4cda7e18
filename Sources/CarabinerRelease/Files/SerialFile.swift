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
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(bytes, to: path)
    } catch {
      throw ReleaseError(.notWritten, "\(path) cannot be written: \(error.reason); check the folder and the disk")
    }
  }
}
