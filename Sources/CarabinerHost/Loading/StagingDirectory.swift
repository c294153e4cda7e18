internal import Glibc
internal import Synchronization

/// The private folder of staged copies; it goes with the process, or, if that was killed, with the next one that makes a folder.
final class StagingDirectory: Sendable {
  static let shared = StagingDirectory()

  static let prefix = "carabiner-"

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
      AbandonedStaging.remove(in: parent)
      // More than once: whoever sweeps may have taken the folder for an abandoned one before it was locked.
      for _ in 0..<3 {
        var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard Self.lock(made) else { continue }
        path = made
        return made
      }
      return nil
    }
    guard let made else { throw StagedCopy.failure(file, "no private folder can be made") }
    registerRemoval()
    return made
  }

  /// Tells everybody, until this process ends in whatever way, that the folder is in use; whether it is still there then.
  private static func lock(_ folder: String) -> Bool {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    guard isLocked, unsafe access(folder, F_OK) == 0 else {
      close(descriptor)
      return false
    }
    return true
  }

  private static let removal: Void = { _ = atexit { StagingDirectory.shared.remove() } }()

  private func registerRemoval() { Self.removal }

  /// Mapped libraries live on without their names.
  private func remove() {
    guard let path = path.withLock({ $0 }) else { return }
    for name in FolderListing.names(in: path) { unsafe unlink("\(path)/\(name)") }
    unsafe rmdir(path)
  }
}
