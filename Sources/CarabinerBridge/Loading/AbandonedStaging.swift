internal import FoundationEssentials
internal import Glibc

/// Removes folders of staged copies whose processes were killed before they could remove them.
package enum AbandonedStaging {
  /// How many folders one start removes at most, so that many leftovers do not delay it. Later starts remove the rest.
  package static let maximumCount = 32

  /// Removes folders of this user that no process has locked.
  package static func remove(in parent: String) {
    var left = maximumCount
    for name in FolderListing.names(in: parent) where left > 0 && isName(name) && remove("\(parent)/\(name)") { left -= 1 }
  }

  /// Whether the name has the form that ``StagingDirectory`` creates. Tests, traces and stores use other names.
  private static func isName(_ name: String) -> Bool {
    let suffix = name.utf8.dropFirst(StagingDirectory.prefix.utf8.count)
    return name.hasPrefix(StagingDirectory.prefix) && suffix.count == 6
      && suffix.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }

  /// Removes a folder if it belongs to this user and is not locked.
  ///
  /// - Returns: Whether the folder was removed.
  private static func remove(_ path: String) -> Bool {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    var status = stat()
    guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid(), flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      return false
    }
    // Only copies are removed. A folder that contains any other file is not a staging folder, and rmdir then fails.
    for name in FolderListing.names(in: path) where name.contains(".so") { unsafe unlinkat(folder, name, 0) }
    return unsafe rmdir(path) == 0
  }
}

/// Lists folders.
enum FolderListing {
  /// The names of the entries of a folder; empty if the folder cannot be read.
  static func names(in path: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}
