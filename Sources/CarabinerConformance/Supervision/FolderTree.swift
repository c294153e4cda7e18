internal import Glibc

/// A folder that untrusted code has filled, perhaps to prevent its removal.
enum FolderTree {
  /// Removes the folder, whatever its depth and modes.
  ///
  /// Nested folders are moved to the top and emptied there, so paths do not become too long, and not too many
  /// descriptors are open. Links are not followed.
  static func remove(_ path: String) {
    let top = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard top >= 0 else { return }
    var waiting = names(in: top)
    var moved = 0
    while let name = waiting.popLast() {
      guard unsafe unlinkat(top, name, 0) != 0 else { continue }
      unsafe fchmodat(top, name, 0o700, 0)
      let folder = unsafe openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else { continue }
      for child in names(in: folder) where unsafe unlinkat(folder, child, 0) != 0 {
        // The name is random, because the folder may have any predictable name.
        let fresh = "\(UInt64.random(in: 0...(.max)))-\(moved)".utf8CString.map { $0 }
        moved += 1
        unsafe fchmodat(folder, child, 0o700, 0)
        if unsafe renameat(folder, child, top, fresh) == 0 { waiting.append(fresh) }
      }
      close(folder)
      unsafe unlinkat(top, name, AT_REMOVEDIR)
    }
    close(top)
    unsafe rmdir(path)
  }

  /// The names in a folder as C strings, because a name may have any bytes.
  private static func names(in folder: Int32) -> [[CChar]] {
    // The stream closes the descriptor it is given.
    let copy = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = unsafe fdopendir(copy) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [[CChar]] = []
    // d_name is read in place: the record is only as long as the name, so a copy of the whole field would read beyond the
    // record.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe $0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
      }
      if name != [0x2E], name != [0x2E, 0x2E] { names.append(name + [0]) }
    }
    return names
  }
}
