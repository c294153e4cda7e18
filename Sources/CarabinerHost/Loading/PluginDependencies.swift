internal import CCrash
internal import CarabinerFiles
internal import Glibc
internal import Synchronization

/// The libraries that a plugin needs beside those of the system: found, checked and loaded by the host itself.
///
/// The dynamic linker looks for libraries in the folders that a plugin names (RPATH, RUNPATH, a path in NEEDED) and looks neither at
/// their owners nor at their permissions. A plugin may therefore name only what the manifest allows. The host then loads each library
/// it needs from a checked private copy before the plugin, so that the dynamic linker finds all of them loaded and looks nowhere.
struct PluginDependencies {
  /// The search paths and libraries that may be named, as they are written in the plugin.
  let allowed: Set<String>
  let mode: StagedCopy.Mode
  /// The libraries on the way to this one, by which a circle is known.
  private var users: [String] = []

  private static let loaded = Mutex<[String: String]>([:])
  /// How many libraries may need one another in a row.
  private static let maximumDepth = 32

  init(allowed: Set<String>, mode: StagedCopy.Mode) {
    self.allowed = allowed
    self.mode = mode
  }

  /// Checks what an object names, without loading anything.
  ///
  /// - Returns: What it names.
  @discardableResult
  func check(_ file: PluginFile) throws(LoadRefusal) -> DynamicLinks {
    let links: DynamicLinks
    do throws(ELFImage.Fault) {
      links = try ELFImage(file.bytes).dynamicLinks()
    } catch {
      throw LoadRefusal(error, path: file.path)
    }
    for folder in links.searchPaths where !allowed.contains(folder) {
      throw refusal(
        file,
        "its RPATH or RUNPATH names \(folder.isEmpty ? "the working folder (an empty path)" : folder), where libraries would be taken from "
          + "unchecked; build it without (in Swift: swift build --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath), or allow it "
          + "with library-paths: [\(folder.debugDescription)] beside file: in the manifest")
    }
    for library in links.libraries where library.contains("$") {
      throw refusal(
        file, "it needs the library \(library) by a variable, which does not lead to it from a private copy; link it by its name")
    }
    for library in links.libraries where library.contains("/") && !allowed.contains(library) {
      throw refusal(
        file,
        "it needs the library \(library) by a path, which would be loaded unchecked; link it by its name, or allow it with "
          + "library-paths: [\(library.debugDescription)] beside file: in the manifest")
    }
    return links
  }

  /// Loads the libraries that a file needs and that are not loaded yet.
  func load(for file: PluginFile) throws(LoadRefusal) {
    let links = try check(file)
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

  /// A path with $ORIGIN filled in: the folder of the file that names it, and not of its copy.
  private func expanded(_ path: String, of file: PluginFile) throws(LoadRefusal) -> String {
    let origin = file.path.lastIndex(of: "/").map { String(file.path[..<$0]) } ?? "."
    for token in ["$ORIGIN", "${ORIGIN}"] where path == token || path.hasPrefix("\(token)/") {
      return (origin.isEmpty ? "/" : origin) + path.dropFirst(token.count)
    }
    guard !path.contains("$") else {
      throw refusal(file, "the host cannot follow the path \(path); of all variables it knows $ORIGIN")
    }
    return path.isEmpty ? "." : path
  }

  /// A folder that only root and we can add libraries to; one that is not there is none that others can make.
  private func trusted(_ folder: String, named name: String, _ file: PluginFile) throws(LoadRefusal) -> String {
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

  /// Loads a library of a folder the plugin names, and what that needs in its turn.
  private func load(_ path: String, as name: String, for user: PluginFile) throws(LoadRefusal) {
    let isPath = name.contains("/")
    let earlier = Self.loaded.withLock { $0[name] }
    // The host has its own: the dynamic linker gives that to every plugin, and so does this.
    if !isPath, earlier == nil, Self.isInProcess(name) { return }
    let library: PluginFile
    do throws(LoadRefusal) {
      library = try PluginFile(opening: path)
    } catch {
      throw LoadRefusal(error.code, step: "libraries", path: user.path, "it needs \(name), and \(error.path): \(error.message)")
    }
    if let earlier {
      guard earlier == library.digest else {
        throw refusal(
          user,
          "it needs \(path), and another file of the name \(name) is loaded already: a process has one library of a name; give this "
            + "version a name of its own (SONAME), or start the host anew")
      }
      return
    }
    guard !users.contains(library.digest), users.count < Self.maximumDepth else {
      throw refusal(user, "it needs \(name), which needs it in its turn; link one of them into the other")
    }
    var inner = self
    inner.users.append(library.digest)
    let links = try inner.check(library)
    guard isPath || links.name == name else {
      throw refusal(
        user, "it needs \(name), and the SONAME of \(path) is \(links.name ?? "missing"); build that with -Wl,-soname,\(name)")
    }
    try inner.load(for: library)
    // What is needed by a path is opened by that path once more; only root and we can have changed what is there.
    let copy = isPath ? path : try StagedCopy.make(of: library, mode: mode)
    try Self.open(copy, library, user)
    Self.loaded.withLock { $0[name] = library.digest }
  }

  private static func open(_ copy: String, _ library: PluginFile, _ user: PluginFile) throws(LoadRefusal) {
    guard let handle = unsafe dlopen(copy, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      throw LoadRefusal(
        .openFailed, step: "libraries", path: user.path,
        "it needs \(library.path), and the dynamic linker refuses that: \(reason())")
    }
    unsafe CCrash_note_library(handle, "", library.path, library.digest)
  }

  /// Loads a library that is in no folder the plugin names from where the system has it.
  private func loadFromSystem(_ name: String, for user: PluginFile) throws(LoadRefusal) {
    guard unsafe dlopen(name, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) != nil else {
      throw LoadRefusal(
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

  private func refusal(_ file: PluginFile, _ message: String) -> LoadRefusal {
    LoadRefusal(.unsafeLibrary, step: "libraries", path: file.path, message)
  }
}
