internal import Foundation

/// The records of earlier starts with the same name: `FILE.1` is the last one.
enum KeptRecords {
  /// How many are kept; the oldest gives way.
  static let maximumCount = 9

  /// Moves the file of a name, and those before it, one number up.
  ///
  /// - Throws: A usage error if what is there is no file, or cannot be renamed.
  static func moveUp(_ path: String) throws {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    // A device or a pipe that is renamed is missing where others look for it.
    guard [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
      throw ServerError.invalid("the record \(path) is a folder or a device; --record takes a file")
    }
    // Up to the first gap: what is behind it may stay.
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
