internal import CarabinerHost
internal import Glibc

/// The libraries a plugin names (DT_NEEDED) in folders it names as well (RUNPATH, RPATH): its child may read them beside those of the
/// system. Only files that are ELF objects are among them, or a plugin could choose what it may read by naming it.
enum NamedLibraries {
  /// How many paths are looked at; a plugin with more libraries of its own finds the others missing.
  private static let maximumPaths = 4096
  private static let maximumBytes = 512 << 20

  /// The paths of those of a plugin, and of those they name.
  static func paths(of plugin: String) -> [String] {
    var found: [String] = []
    var seen: Set<String> = [plugin]
    var waiting = [plugin]
    while let path = waiting.popLast() {
      guard let object = object(at: path) else { continue }
      if path != plugin { found.append(path) }
      for folder in object.searchPaths where folder.hasPrefix("/") {
        for name in object.needed where !name.contains("/") && seen.count < maximumPaths {
          if seen.insert("\(folder)/\(name)").inserted { waiting.append("\(folder)/\(name)") }
        }
      }
    }
    return found
  }

  private static func object(at path: String) -> SharedObject? {
    var status = stat()
    // Not a pipe or a device, which would be waited for, or has no end.
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let bytes = try? BoundedFile.bytes(at: path, maximumBytes: maximumBytes)
    else { return nil }
    return try? SharedObject(bytes)
  }
}
