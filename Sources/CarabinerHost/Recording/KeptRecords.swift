internal import Foundation

/// The records of earlier starts with the same name. `FILE.1` is the latest.
enum KeptRecords {
  /// The maximum number of earlier records. The oldest is overwritten.
  static let maximumCount = 9

  /// Renames a record and its predecessors to the next higher number.
  ///
  /// - Throws: A usage error if the path is not a file, or cannot be renamed.
  static func moveUp(_ path: String) throws {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    // A device or a pipe must not be renamed: other programs would no longer find it.
    guard [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
      throw ServerError.invalid("the record \(path) is a folder or a device; --record takes a file")
    }
    // Files after the first free number can keep their names.
    var free = 1
    while free < maximumCount, unsafe lstat("\(path).\(free)", &status) == 0 { free += 1 }
    for number in stride(from: free, through: 1, by: -1) {
      let earlier = number == 1 ? path : "\(path).\(number - 1)"
      guard unsafe rename(earlier, "\(path).\(number)") == 0 else {
        throw ServerError.invalid(
          unsafe "the record \(earlier) cannot be renamed: \(String(cString: strerror(errno))); --record takes a file in a folder that may "
            + "be written")
      }
    }
  }
}
