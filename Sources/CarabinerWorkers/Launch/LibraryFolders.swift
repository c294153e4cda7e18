/// The paths of `library-paths` that a worker may read, for the libraries of its plugins.
///
/// Only the manifest grants them. The entries of a plugin's dynamic section name paths too, and none of these becomes readable: a plugin
/// would otherwise read any folder of the system by naming it.
package enum LibraryFolders {
  /// The absolute paths among those that a manifest allows.
  ///
  /// The dynamic linker of a worker finds nothing by the others: a plugin in memory has no folder, so `$ORIGIN` leads nowhere.
  package static func readable(_ allowed: Set<String>) -> [String] { allowed.filter(isPlain).sorted() }

  /// Whether a path is absolute, has neither variables of the linker nor `.` and `..`, and is not the root and not in /proc, /sys
  /// or /dev.
  private static func isPlain(_ path: String) -> Bool {
    guard path.hasPrefix("/"), !path.contains("$"), !path.utf8.contains(0) else { return false }
    let parts = path.split(separator: "/")
    guard let first = parts.first, !parts.contains(".."), !parts.contains(".") else { return false }
    return !["proc", "sys", "dev"].contains(first)
  }
}
