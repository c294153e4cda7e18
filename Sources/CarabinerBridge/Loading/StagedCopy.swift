internal import CLinux
internal import CarabinerFiles
package import CarabinerManifest
internal import Glibc

/// A copy of a plugin that no other user can change, for `dlopen` to map.
///
/// The operator's file is never mapped: overwriting or truncating a mapped file kills the process that runs it.
package enum StagedCopy {
  /// Where the copy is kept.
  package typealias Mode = StagingMode

  /// Where the copy is kept unless the manifest says otherwise.
  package static let defaultMode = StagingMode.standard

  /// Writes the copy and returns the path to load it from.
  package static func make(of file: PluginFile, mode: Mode) throws(HostError) -> String {
    switch mode {
    case .memfd: try memoryFile(file)
    case .directory: try StagingDirectory.shared.stage(file)
    }
  }

  private static func memoryFile(_ file: PluginFile) throws(HostError) -> String {
    // The descriptor is never closed: glibc knows the library by this path, and would return it for the next file that gets the
    // number.
    "/proc/self/fd/\(try sealed(file))"
  }

  /// A memory file with the bytes, which nothing can change. The caller closes its descriptor.
  package static func sealed(_ file: PluginFile) throws(HostError) -> Int32 {
    let descriptor = unsafe CLinux_newMemoryFile(memoryName(of: file.path))
    guard descriptor >= 0 else { throw failure(file, "no memory file can be made") }
    guard FileReplacement.writeAll(file.bytes, to: descriptor), CLinux_seal(descriptor) == 0 else {
      let refusal = failure(file, "the memory file cannot be filled and sealed")
      close(descriptor)
      throw refusal
    }
    return descriptor
  }

  /// The name of the memory file in /proc/PID/maps, profilers and backtraces.
  private static func memoryName(of path: String) -> String {
    let name = path.split(separator: "/").last ?? "plugin"
    return "carabiner:" + String(decoding: name.utf8.prefix(maximumNameBytes), as: UTF8.self)
  }

  /// The kernel allows 249 bytes, including a prefix and the final NUL.
  private static let maximumNameBytes = 200

  static func failure(_ file: PluginFile, _ what: String) -> HostError {
    HostError(
      .stagingFailed, step: "stage", path: file.path,
      unsafe "\(what): \(String(cString: strerror(errno))); check free space, memory and permissions, or change settings: {staging: …} in the "
        + "manifest to memfd or directory")
  }
}
