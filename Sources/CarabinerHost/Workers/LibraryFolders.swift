internal import Glibc

/// The folders of RPATH and RUNPATH that a worker may read, for the libraries of its plugin.
///
/// The plugin names them, so a folder counts only if it has a library that the plugin needs. Otherwise a plugin could name any folder of
/// the system and read its files.
enum LibraryFolders {
  /// More than any plugin needs.
  static let maximumCount = 16

  /// The folders of a plugin, in the order in which the dynamic linker searches them.
  static func of(_ file: PluginFile) -> [String] {
    guard let links = try? ELFImage(file.bytes).dynamicLinks() else { return [] }
    return of(links)
  }

  /// The folders among those that an object names.
  static func of(_ links: DynamicLinks) -> [String] {
    let libraries = links.libraries.filter { !$0.isEmpty && !$0.contains("/") }
    var found: [String] = []
    for folder in links.searchPaths where found.count < maximumCount {
      guard isPlain(folder), !found.contains(folder) else { continue }
      if libraries.contains(where: { isLibrary("\(folder)/\($0)") }) { found.append(folder) }
    }
    return found
  }

  /// Whether a path is absolute and names one place: neither variables of the linker, nor ways back, nor the whole system.
  private static func isPlain(_ path: String) -> Bool {
    guard path.hasPrefix("/"), !path.contains("$"), !path.utf8.contains(0) else { return false }
    let parts = path.split(separator: "/")
    guard let first = parts.first, !parts.contains(".."), !parts.contains(".") else { return false }
    return !["proc", "sys", "dev"].contains(first)
  }

  /// Whether a path leads to a shared object.
  private static func isLibrary(_ path: String) -> Bool {
    // Without waiting for the writer of a FIFO.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    var start = [UInt8](repeating: 0, count: 18)
    guard unsafe read(descriptor, &start, start.count) == start.count else { return false }
    // The type of a shared object, in the byte order of all machines that workers run on.
    return start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) && start[16] == 3 && start[17] == 0
  }
}
