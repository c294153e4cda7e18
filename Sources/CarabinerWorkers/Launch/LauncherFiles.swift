internal import CLaunching
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

/// The programs of launcher and worker. They stay open, so an upgrade of the files under a running host changes nothing.
final class LauncherFiles: Sendable {
  let path: String
  let (launcher, worker): (Int32, Int32)

  /// The files by the path of the launcher.
  private static let opened = Mutex<[String: LauncherFiles]>([:])

  private init(path: String) throws(HostError) {
    self.path = path
    let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
    let launcher = try Self.open(path)
    do throws(HostError) {
      worker = try Self.open(folder + "carabiner-worker")
    } catch {
      close(launcher)
      throw error
    }
    self.launcher = launcher
  }

  deinit {
    close(launcher)
    close(worker)
  }

  /// The files beside this executable, those that CARABINER_LAUNCHER names, or those at a path.
  static func files(at path: String?) throws(HostError) -> LauncherFiles {
    // The closures of ?? would lose the type of the error.
    let named = if let path { path } else { try variable() }
    let path = if let named { named } else { try besideExecutable() }
    return try opened.withLock { opened throws(HostError) in
      if let files = opened[path] { return files }
      let files = try LauncherFiles(path: path)
      opened[path] = files
      return files
    }
  }

  private static func open(_ path: String) throws(HostError) -> Int32 {
    let file = unsafe CLaunching_open(path)
    guard file < 0 else { return file }
    throw HostError(
      .notFound, step: "launcher", path: path,
      unsafe """
      the program cannot be opened: \(String(cString: strerror(errno))). Workers need carabiner-launcher and carabiner-worker. \
      Install both beside the host, or set CARABINER_LAUNCHER to the path of carabiner-launcher
      """)
  }

  private static func variable() throws(HostError) -> String? {
    guard let value = unsafe getenv("CARABINER_LAUNCHER") else { return nil }
    let path = unsafe String(cString: value)
    guard path.hasPrefix("/") else {
      throw HostError(
        .notFound, step: "launcher", path: path, "CARABINER_LAUNCHER is not an absolute path. Set it to one, or unset it")
    }
    return path
  }

  private static func besideExecutable() throws(HostError) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard length > 0 else {
      throw HostError(
        .notFound, step: "launcher", path: "/proc/self/exe",
        "the folder of this program is not known. Mount /proc, or set CARABINER_LAUNCHER to the path of carabiner-launcher")
    }
    let executable = String(decoding: bytes[..<length], as: UTF8.self)
    return executable.prefix(through: executable.lastIndex(of: "/") ?? executable.startIndex) + "carabiner-launcher"
  }
}
