internal import CarabinerFiles
internal import Glibc

/// The libraries that a plugin needs (DT_NEEDED), in the folders that it names (RUNPATH, RPATH). Its child may read them, and the
/// libraries of the system.
///
/// As in a host, the SONAME of a library must be the needed name. Otherwise a plugin could read any file by naming it.
enum NamedLibraries {
  /// The maximum number of paths that are checked. The child cannot read further libraries.
  private static let maximumPaths = 4096
  private static let maximumBytes = 512 << 20

  /// The paths of the libraries of a plugin, and of the libraries that they name.
  static func paths(of plugin: String) -> [String] {
    var found: [String] = []
    var seen: Set<String> = [plugin]
    var waiting = [plugin]
    while let path = waiting.popLast() {
      guard let object = object(at: path) else { continue }
      if path != plugin {
        guard let name = object.name, path.hasSuffix("/\(name)") else { continue }
        found.append(path)
      }
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
    // Only regular files are read, because a read of a pipe or a device may block or never end.
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let bytes = try? BoundedFile.bytes(at: path, maximumBytes: maximumBytes)
    else { return nil }
    return try? SharedObject(bytes)
  }
}
