internal import CCrash
internal import CarabinerFiles
internal import Glibc
internal import Synchronization

/// Finds, checks and loads the libraries that a plugin needs in addition to those of the system.
///
/// The dynamic linker searches the folders that a plugin names (RPATH, RUNPATH, a path in NEEDED) without checking their owners
/// or permissions. A plugin may therefore name only the paths that the manifest allows. The host loads each needed library from
/// a checked private copy before it loads the plugin. The dynamic linker then finds all of them loaded and searches no folder.
package struct PluginDependencies {
  /// The search paths and libraries that a plugin may name, as written in the plugin.
  let allowed: Set<String>
  package let mode: StagedCopy.Mode
  /// The digests of the libraries that led to this one, to detect a cycle.
  private var users: [String] = []

  private static let loaded = Mutex<[String: String]>([:])
  /// How long a chain of libraries that need each other may be.
  private static let maximumDepth = 32

  package init(allowed: Set<String>, mode: StagedCopy.Mode) {
    self.allowed = allowed
    self.mode = mode
  }

  /// Checks the libraries and paths that an object names, without loading anything.
  ///
  /// - Returns: The object's dynamic links.
  @discardableResult
  package func check(_ file: PluginFile) throws(HostError) -> DynamicLinks {
    let links: DynamicLinks
    do throws(ELFImage.Fault) {
      links = try ELFImage(file.bytes).dynamicLinks()
    } catch {
      throw HostError(error, path: file.path)
    }
    for folder in links.searchPaths where !allowed.contains(folder) {
      throw refusal(
        file,
        "its RPATH or RUNPATH names \(folder.isEmpty ? "the working folder (an empty path)" : folder), "
          + "and libraries would be loaded from there without checks; build the plugin without it (in Swift: swift build "
          + "--disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath), or allow it with "
          + "library-paths: [\(folder.debugDescription)] beside file: in the manifest")
    }
    for library in links.libraries where library.contains("$") {
      throw refusal(
        file,
        "it needs the library \(library) by a path with a variable, which does not work in a private copy; link it by its name")
    }
    for library in links.libraries where library.contains("/") && !allowed.contains(library) {
      throw refusal(
        file,
        "it needs the library \(library) by a path, which would be loaded without checks; link it by its name, or allow it with "
          + "library-paths: [\(library.debugDescription)] beside file: in the manifest")
    }
    return links
  }

  /// Loads the libraries that a file needs and that are not loaded yet.
  ///
  /// - Parameter swiftVersion: The version of Swift that the file was built with; nil if it does not say.
  package func load(for file: PluginFile, swiftVersion: String? = nil) throws(HostError) {
    let links = try check(file)
    try SwiftRuntime.prepare(for: links, builtWith: swiftVersion, path: file.path)
    var folders: [String] = []
    for path in links.searchPaths { folders.append(try trusted(expanded(path, of: file), named: path, file)) }
    for library in links.libraries {
      if library.contains("/") {
        try load(library, as: library, for: file)
      } else if let found = Self.find(library, in: folders) {
        try load(found, as: library, for: file)
      } else if !links.searchPaths.isEmpty {
        try loadFromSystem(library, for: file)
      }
    }
  }

  // MARK: Paths

  private static func find(_ library: String, in folders: [String]) -> String? {
    for folder in folders where unsafe access("\(folder)/\(library)", F_OK) == 0 { return "\(folder)/\(library)" }
    return nil
  }

  /// The path with $ORIGIN replaced by the folder of the original file, not of its private copy.
  private func expanded(_ path: String, of file: PluginFile) throws(HostError) -> String {
    let origin = file.path.lastIndex(of: "/").map { String(file.path[..<$0]) } ?? "."
    for token in ["$ORIGIN", "${ORIGIN}"] where path == token || path.hasPrefix("\(token)/") {
      return (origin.isEmpty ? "/" : origin) + path.dropFirst(token.count)
    }
    guard !path.contains("$") else {
      throw refusal(file, "the host cannot resolve the path \(path); it supports the variable $ORIGIN only")
    }
    return path.isEmpty ? "." : path
  }

  /// Checks that only root and this user can add libraries to a folder. A folder that does not exist passes: another user
  /// cannot create it.
  private func trusted(_ folder: String, named name: String, _ file: PluginFile) throws(HostError) -> String {
    do throws(TrustedPath.Fault) {
      return try TrustedPath.resolve(folder)
    } catch {
      switch error {
      case .absent: return folder
      case .unsafe(let reason): throw refusal(file, "it looks for libraries in \(name): \(reason)")
      }
    }
  }

  // MARK: Loading

  /// Loads a library from a folder that the plugin names, and the libraries that it needs itself.
  private func load(_ path: String, as name: String, for user: PluginFile) throws(HostError) {
    let isPath = name.contains("/")
    let earlier = Self.loaded.withLock { $0[name] }
    // The host has loaded this library already. The dynamic linker gives it to every plugin, so no other file is used.
    if !isPath, earlier == nil, Self.isInProcess(name) { return }
    let library: PluginFile
    do throws(HostError) {
      library = try PluginFile(opening: path)
    } catch {
      throw HostError(error.code, step: "libraries", path: user.path, "it needs \(name), and \(error.path): \(error.message)")
    }
    if let earlier {
      guard earlier == library.digest else {
        throw refusal(
          user,
          "it needs \(path), but another file with the name \(name) is loaded already, and a process can have only one; give this "
            + "version a name of its own (SONAME), or restart the host")
      }
      return
    }
    guard !users.contains(library.digest), users.count < Self.maximumDepth else {
      throw refusal(user, "it needs \(name), which itself needs this library; link one of them into the other")
    }
    var inner = self
    inner.users.append(library.digest)
    let links = try inner.check(library)
    guard isPath || links.name == name else {
      throw refusal(
        user,
        "it needs \(name), but the SONAME of \(path) is \(links.name ?? "missing"); build that library with -Wl,-soname,\(name)")
    }
    try inner.load(for: library)
    // The dynamic linker opens a library that is needed by path again by that path. Only root and this user can have changed
    // it.
    let copy = isPath ? path : try StagedCopy.make(of: library, mode: mode)
    try Self.open(copy, library, user)
    Self.loaded.withLock { $0[name] = library.digest }
  }

  private static func open(_ copy: String, _ library: PluginFile, _ user: PluginFile) throws(HostError) {
    guard let handle = unsafe dlopen(copy, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      throw HostError(
        .openFailed, step: "libraries", path: user.path,
        "it needs \(library.path), which the dynamic linker refuses: \(reason())")
    }
    unsafe CCrash_note_library(handle, "", library.path, library.digest)
  }

  /// Loads a library that is in none of the plugin's folders from the system's folders.
  private func loadFromSystem(_ name: String, for user: PluginFile) throws(HostError) {
    guard unsafe dlopen(name, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) != nil else {
      throw HostError(
        .openFailed, step: "libraries", path: user.path,
        "it needs \(name), which is in no folder of its RPATH or RUNPATH and not among the system's libraries: \(Self.reason()); install it"
      )
    }
  }

  private static func isInProcess(_ name: String) -> Bool {
    guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return false }
    unsafe dlclose(handle)
    return true
  }

  private static func reason() -> String { unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given" }

  private func refusal(_ file: PluginFile, _ message: String) -> HostError {
    HostError(.unsafeLibrary, step: "libraries", path: file.path, message)
  }
}
