internal import Glibc

/// Lists the files of a folder.
package enum FolderListing {
  /// A name in a folder.
  package struct Entry: Sendable, Hashable {
    /// The kind of a file.
    package enum Kind: Sendable, Hashable {
      /// A regular file, also by a symbolic link.
      case file
      /// A folder. A symbolic link to one is not a folder, so a walk cannot run in circles.
      case folder
      /// Anything else.
      case other
    }

    package let name: String
    package let kind: Kind
  }

  /// The names in a folder, sorted by their bytes, without `.` and `..`.
  ///
  /// - Throws: ``BoundedFile/Fault/tooLarge`` if there are more names than the maximum.
  package static func entries(of path: String, maximum: Int) throws(BoundedFile.Fault) -> [Entry] {
    guard let folder = unsafe opendir(path) else { throw .unreadable(unsafe String(cString: strerror(errno))) }
    defer { unsafe closedir(folder) }
    let descriptor = unsafe dirfd(folder)
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    var entries: [Entry] = []
    while let record = unsafe readdir(folder) {
      // The record in memory may be shorter than the type, so only the name is read.
      let name = unsafe String(cString: (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: CChar.self))
      if name == "." || name == ".." { continue }
      guard entries.count < maximum else { throw .tooLarge }
      entries.append(Entry(name: name, kind: kind(of: name, in: descriptor)))
    }
    return entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  private static func kind(of name: String, in folder: Int32) -> Entry.Kind {
    var status = stat()
    guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    case S_IFLNK:
      return unsafe fstatat(folder, name, &status, 0) == 0 && status.st_mode & S_IFMT == S_IFREG ? .file : .other
    default: return .other
    }
  }
}
