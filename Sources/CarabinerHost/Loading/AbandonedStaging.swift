internal import FoundationEssentials
internal import Glibc

/// Folders of staged copies whose processes were killed before they could remove them.
package enum AbandonedStaging {
  /// How many are removed at a time: the next one goes on, and nobody's start waits for what many left.
  package static let maximumCount = 32

  /// Removes folders of this user that no process holds a lock on.
  package static func remove(in parent: String) {
    var left = maximumCount
    for name in FolderListing.names(in: parent) where left > 0 && isName(name) && remove("\(parent)/\(name)") { left -= 1 }
  }

  /// Whether it is a name we give, and not one of a test, a trace or a store.
  private static func isName(_ name: String) -> Bool {
    let suffix = name.utf8.dropFirst(StagingDirectory.prefix.utf8.count)
    return name.hasPrefix(StagingDirectory.prefix) && suffix.count == 6
      && suffix.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }

  /// Whether it was ours and abandoned, and is gone.
  private static func remove(_ path: String) -> Bool {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    var status = stat()
    guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid(), flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      return false
    }
    // Only copies: a folder with anything else in it is none of ours, and stays.
    for name in FolderListing.names(in: path) where name.contains(".so") { unsafe unlinkat(folder, name, 0) }
    return unsafe rmdir(path) == 0
  }
}

/// What is in a folder.
enum FolderListing {
  /// Nothing, if it cannot be read.
  static func names(in path: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}
