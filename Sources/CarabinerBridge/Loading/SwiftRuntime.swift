internal import CProgram
internal import CarabinerFiles
internal import Glibc
internal import Synchronization

/// The Swift libraries for plugins that are linked dynamically.
///
/// A host of the packages contains Swift and exports none of it. Plugins that need `libswiftCore.so` then use the libraries of a package, in
/// `lib/carabiner/swift-VERSION` beside the `bin` of the host. A process maps only one version, because the libraries of all versions have
/// the same names.
package struct SwiftRuntime: Sendable {
  /// The libraries that a plugin gets.
  package enum Choice: Equatable, Sendable {
    /// It contains its own, or is not in Swift.
    case notNeeded
    /// Those that the process has mapped.
    case mapped
    /// Those of a folder.
    case folder(String)
    /// None are installed.
    case missing
    /// The plugin was built with another version than this one.
    case otherVersion(String)
  }

  /// Whether the process has mapped Swift libraries.
  package enum Mapping: Equatable, Sendable {
    case none
    /// Of this version; nil if it is unknown.
    case version(String?)
  }

  /// The library that every other one needs.
  package static let core = "libswiftCore.so"
  private static let prefix = "swift-"

  private let mapping: Mapping
  /// The folders of the installed versions.
  private let folders: [String: String]

  /// The libraries of a process.
  ///
  /// - Parameters:
  ///   - folder: The folder that may have a folder for each installed version, such as `/usr/lib/carabiner`; nil if there is none.
  package init(mapping: Mapping, in folder: String?) {
    self.mapping = mapping
    folders = folder.map(Self.versions) ?? [:]
  }

  /// The newest of the installed versions.
  package var newest: (version: String, folder: String)? {
    folders.max { Self.isOlder($0.key, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Chooses the libraries for an object.
  ///
  /// - Parameter version: The version of Swift that the object was built with; nil if it does not say.
  package func choice(for links: DynamicLinks, builtWith version: String?) -> Choice {
    guard links.libraries.contains(Self.core) else { return .notNeeded }
    switch mapping {
    case .version(let mapped):
      guard let version, let mapped, version != mapped else { return .mapped }
      return .otherVersion(mapped)
    case .none:
      guard let newest else { return .missing }
      guard let version else { return .folder(newest.folder) }
      return folders[version].map(Choice.folder) ?? .otherVersion(newest.version)
    }
  }

  /// The package that has the libraries of a version.
  package static func packageName(for version: String) -> String {
    "carabiner-swift-" + version.split(separator: ".").prefix(2).joined(separator: ".")
  }

  /// Whether a text can be a version of Swift, such as 6.3.1.
  package static func isVersion(_ text: String) -> Bool {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
    return (2...4).contains(numbers.count)
      && numbers.allSatisfy { (1...4).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
  }

  private static func isOlder(_ left: String, _ right: String) -> Bool {
    func numbers(_ text: String) -> [Int] { text.split(separator: ".").compactMap { Int($0) } }
    return numbers(left).lexicographicallyPrecedes(numbers(right))
  }

  private static func versions(in folder: String) -> [String: String] {
    guard let stream = unsafe opendir(folder) else { return [:] }
    defer { unsafe closedir(stream) }
    var found: [String: String] = [:]
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { place in
        unsafe place.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard name.hasPrefix(prefix), isVersion(String(name.dropFirst(prefix.count))) else { continue }
      found[String(name.dropFirst(prefix.count))] = "\(folder)/\(name)"
    }
    return found
  }
}

extension SwiftRuntime {
  /// Whether the host itself is linked dynamically, so that plugins use its libraries.
  private static let isOfHost = isMapped(core)
  /// The version that was opened for a plugin.
  private static let opened = Mutex<String?>(nil)

  /// The version of Swift that built this program; empty if the build did not say.
  package static var hostVersion: String { unsafe String(cString: CProgram_swiftVersion()) }

  /// The libraries of this process.
  package static var current: SwiftRuntime {
    if isOfHost { return SwiftRuntime(mapping: .version(hostVersion.isEmpty ? nil : hostVersion), in: nil) }
    if let version = opened.withLock({ $0 }) { return SwiftRuntime(mapping: .version(version), in: installationFolder) }
    // A plugin may have loaded them from a folder that the manifest allows.
    return SwiftRuntime(mapping: isMapped(core) ? .version(nil) : .none, in: installationFolder)
  }

  /// The folder `lib/carabiner` of the installation that this program is from.
  private static let installationFolder: String? = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    guard count > 0, count < path.count else { return nil }
    let parts = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: "/")
    guard parts.count >= 2 else { return nil }
    return "/" + (parts.dropLast(2) + ["lib", "carabiner"]).joined(separator: "/")
  }()

  private static func isMapped(_ library: String) -> Bool {
    guard let handle = unsafe dlopen(library, RTLD_LAZY | RTLD_NOLOAD) else { return false }
    unsafe dlclose(handle)
    return true
  }

  /// The folder whose libraries workers use; nil if the host's own are used, or none are installed.
  package static var workerFolder: String? { isOfHost ? nil : SwiftRuntime.current.newest?.folder }

  /// Opens the Swift libraries that an object needs, so that the dynamic linker finds them by name whatever the object's RUNPATH says.
  ///
  /// - Throws: ``HostError`` if they are missing, or if the object was built with another version.
  package static func prepare(for links: DynamicLinks, builtWith version: String?, path: String) throws(HostError) {
    switch current.choice(for: links, builtWith: version) {
    case .notNeeded, .mapped: return
    case .folder(let folder): try open(links.libraries, in: folder, for: path)
    case .missing:
      // They may be in a folder of the plugin, or the system may have them.
      guard links.searchPaths.isEmpty, unsafe dlopen(core, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) == nil else { return }
      throw missing(for: path, version)
    case .otherVersion(let other): throw refusal(path, version, other)
    }
  }

  /// Checks that a worker will find the Swift libraries that an object needs.
  ///
  /// - Throws: ``HostError`` as ``prepare(for:builtWith:path:)``.
  package static func checkForWorker(_ links: DynamicLinks, builtWith version: String?, path: String) throws(HostError) {
    guard !isOfHost, links.searchPaths.isEmpty, unsafe getenv("LD_LIBRARY_PATH") == nil else { return }
    // A worker maps the newest version: its folder is that of all workers.
    let newest = current.newest
    switch SwiftRuntime(mapping: newest.map { .version($0.version) } ?? .none, in: nil).choice(for: links, builtWith: version) {
    case .notNeeded, .mapped, .folder: return
    case .missing: throw missing(for: path, version)
    case .otherVersion(let other): throw refusal(path, version, other)
    }
  }

  private static func open(_ libraries: [String], in folder: String, for path: String) throws(HostError) {
    let version = String(folder.split(separator: "/").last?.dropFirst(prefix.count) ?? "")
    // The core is first: if it cannot be opened, no other is.
    for library in [core] + libraries.filter({ $0 != core }) where !library.contains("/") {
      let file = "\(folder)/\(library)"
      guard unsafe access(file, F_OK) == 0 else { continue }
      try checkOwner(of: file, for: path)
      guard unsafe dlopen(file, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) != nil else {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
        throw HostError(
          .openFailed, step: "libraries", path: path,
          "it needs \(file), which the dynamic linker refuses: \(reason); install the package \(packageName(for: version)) again")
      }
    }
    opened.withLock { $0 = version }
  }

  /// Checks that only root and this user can have written a library.
  private static func checkOwner(of file: String, for path: String) throws(HostError) {
    do throws(TrustedPath.Fault) {
      let real = try TrustedPath.resolve(file)
      var status = stat()
      guard unsafe stat(real, &status) == 0, !TrustedPath.isForeign(status), status.st_mode & 0o022 == 0 else {
        throw .unsafe("other users may write to \(real)")
      }
    } catch {
      let reason =
        switch error {
        case .absent(let text), .unsafe(let text): text
        }
      throw HostError(.unsafeLibrary, step: "libraries", path: path, "it needs \(file), and \(reason)")
    }
  }

  private static func missing(for path: String, _ version: String?) -> HostError {
    let wanted = version ?? hostVersion
    let install = wanted.isEmpty ? "install the package of its Swift version" : "install the package \(packageName(for: wanted))"
    return HostError(
      .openFailed, step: "libraries", path: path,
      "it needs the Swift libraries (\(core)), and plugins cannot use those of this host, which are a part of the command; \(install), or "
        + "build the plugin with -static-stdlib")
  }

  private static func refusal(_ path: String, _ version: String?, _ other: String) -> HostError {
    HostError(
      .swiftRuntime, step: "libraries", path: path,
      "it was built with Swift \(version ?? "?"), but the Swift libraries of this host are version \(other), and Swift on Linux has no "
        + "stable ABI; build it with Swift \(other), or with -static-stdlib")
  }
}
