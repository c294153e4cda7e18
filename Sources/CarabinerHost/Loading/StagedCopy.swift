internal import CLinux
internal import Glibc
internal import Synchronization

/// A copy of a plugin that nobody but this process can change, for `dlopen` to map.
///
/// The operator's own file is never mapped: overwriting or truncating a mapped file kills the process that runs it.
package enum StagedCopy {
  /// Where the copy is kept.
  package enum Mode: String, Sendable, Hashable {
    /// In a private folder, by the digest of its contents.
    case directory
    /// In memory, sealed against every change.
    case memfd
  }

  /// Writes the copy and gives the path to load it by.
  static func make(of file: PluginFile, mode: Mode) throws(LoadRefusal) -> String {
    switch mode {
    case .memfd: try memoryFile(file)
    case .directory: try StagingDirectory.shared.stage(file)
    }
  }

  private static func memoryFile(_ file: PluginFile) throws(LoadRefusal) -> String {
    let descriptor = unsafe CLinux_newMemoryFile("carabiner-plugin")
    guard descriptor >= 0 else { throw failure(file, "no memory file can be made") }
    guard writeAll(file.bytes, to: descriptor), CLinux_seal(descriptor) == 0 else {
      close(descriptor)
      throw failure(file, "the memory file cannot be filled and sealed")
    }
    // The descriptor stays open for ever: glibc knows the library by this path, and the next owner of the number would be
    // taken for it.
    return "/proc/self/fd/\(descriptor)"
  }

  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = unsafe write(descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }

  static func failure(_ file: PluginFile, _ what: String) -> LoadRefusal {
    LoadRefusal(
      .stagingFailed, step: "stage", path: file.path,
      unsafe "\(what): \(String(cString: strerror(errno))); is there space and memory?")
  }
}

/// The private folder of staged copies; it goes with the process.
final class StagingDirectory: Sendable {
  static let shared = StagingDirectory()

  private let path = Mutex<String?>(nil)

  func stage(_ file: PluginFile) throws(LoadRefusal) -> String {
    let folder = try folder(for: file)
    let target = "\(folder)/\(file.digest).so"
    // The folder is ours alone, so a copy of this digest was written by this process and is whole.
    if unsafe access(target, R_OK) == 0 { return target }
    let temporary = "\(target).\(UInt64.random(in: 0...(.max)))"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o500)
    guard descriptor >= 0 else { throw StagedCopy.failure(file, "the private copy cannot be made in \(folder)") }
    let isWritten = StagedCopy.writeAll(file.bytes, to: descriptor)
    close(descriptor)
    guard isWritten, unsafe rename(temporary, target) == 0 else {
      let refusal = StagedCopy.failure(file, "the private copy cannot be written in \(folder)")
      unsafe unlink(temporary)
      throw refusal
    }
    return target
  }

  private func folder(for file: PluginFile) throws(LoadRefusal) -> String {
    let made: String? = path.withLock { path in
      if let path { return path }
      let parent = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? "/tmp"
      var template = Array("\(parent)/carabiner-XXXXXX".utf8CString)
      guard unsafe mkdtemp(&template) != nil else { return nil }
      let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = made
      return made
    }
    guard let made else { throw StagedCopy.failure(file, "no private folder can be made") }
    registerRemoval()
    return made
  }

  private static let removal: Void = { _ = atexit { StagingDirectory.shared.remove() } }()

  private func registerRemoval() { Self.removal }

  /// Mapped libraries live on without their names.
  private func remove() {
    guard let path = path.withLock({ $0 }), let folder = unsafe opendir(path) else { return }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { unsafe unlink("\(path)/\(name)") }
    }
    unsafe closedir(folder)
    unsafe rmdir(path)
  }
}
