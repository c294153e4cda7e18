internal import CarabinerFiles
internal import Glibc
internal import Synchronization

/// The private folder of staged copies; it goes with the process, or, if that was killed, with the next one that makes a folder.
final class StagingDirectory: Sendable {
  static let shared = StagingDirectory()

  static let prefix = "carabiner-"

  /// The folder, open and locked as long as the process lives.
  private struct Folder {
    let path: String
    let descriptor: Int32

    /// Whether the path still leads to the folder that is open, and nobody else may write to it.
    var isOurs: Bool {
      var (open, named) = (stat(), stat())
      guard (try? TrustedPath.resolve(path)) == path, unsafe fstat(descriptor, &open) == 0, unsafe lstat(path, &named) == 0 else {
        return false
      }
      return open.st_ino == named.st_ino && open.st_dev == named.st_dev && open.st_uid == geteuid() && open.st_mode & 0o077 == 0
    }
  }

  private let made = Mutex<Folder?>(nil)

  /// Writes a copy, or finds the one that is there, and gives the path to load it by.
  func stage(_ file: PluginFile) throws(LoadRefusal) -> String {
    let folder = try folder(for: file)
    guard folder.isOurs else {
      throw StagedCopy.failure(file, "the private folder \(folder.path) was replaced or its permissions were changed")
    }
    let name = "\(file.digest).so"
    // This process wrote it, but what is loaded is compared with what was checked all the same.
    if Self.holds(file.bytes, name, folder.descriptor) { return "\(folder.path)/\(name)" }
    let temporary = "\(name).\(UInt64.random(in: 0...(.max)))"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe openat(folder.descriptor, temporary, flags, 0o500)
    guard descriptor >= 0 else { throw StagedCopy.failure(file, "the private copy cannot be made in \(folder.path)") }
    let isWritten = StagedCopy.writeAll(file.bytes, to: descriptor)
    close(descriptor)
    guard isWritten, unsafe renameat(folder.descriptor, temporary, folder.descriptor, name) == 0 else {
      let refusal = StagedCopy.failure(file, "the private copy cannot be written in \(folder.path)")
      unsafe unlinkat(folder.descriptor, temporary, 0)
      throw refusal
    }
    return "\(folder.path)/\(name)"
  }

  /// Whether a file of the folder has these bytes and nobody else may write to it.
  private static func holds(_ bytes: [UInt8], _ name: String, _ folder: Int32) -> Bool {
    let descriptor = unsafe openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_mode & 0o222 == 0, Int(status.st_size) == bytes.count
    else { return false }
    return (try? PluginFile.read(descriptor, count: bytes.count, path: name)) == bytes
  }

  private func folder(for file: PluginFile) throws(LoadRefusal) -> Folder {
    let parent = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let resolved: String
    do throws(TrustedPath.Fault) {
      resolved = try TrustedPath.resolve(parent)
    } catch {
      let reason =
        switch error {
        case .absent(let reason), .unsafe(let reason): reason
        }
      throw LoadRefusal(
        .stagingFailed, step: "stage", path: file.path,
        "no private copy can be made in \(parent): \(reason); correct XDG_RUNTIME_DIR, or write settings: {staging: memfd}")
    }
    let folder: Folder? = made.withLock { made in
      if let made { return made }
      AbandonedStaging.remove(in: resolved)
      // More than once: whoever sweeps may have taken the folder for an abandoned one before it was locked.
      for _ in 0..<3 {
        var template = Array("\(resolved == "/" ? "" : resolved)/\(Self.prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let descriptor = Self.lock(path) else { continue }
        made = Folder(path: path, descriptor: descriptor)
        return made
      }
      return nil
    }
    guard let folder else { throw StagedCopy.failure(file, "no private folder can be made in \(resolved)") }
    registerRemoval()
    return folder
  }

  /// Tells everybody, until this process ends in whatever way, that the folder is in use.
  ///
  /// - Returns: The open folder; nil if it is not there any more.
  private static func lock(_ folder: String) -> Int32? {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    guard isLocked, unsafe access(folder, F_OK) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private static let removal: Void = { _ = atexit { StagingDirectory.shared.remove() } }()

  private func registerRemoval() { Self.removal }

  /// Mapped libraries live on without their names.
  private func remove() {
    guard let folder = made.withLock({ $0 }) else { return }
    for name in FolderListing.names(in: folder.path) { unsafe unlinkat(folder.descriptor, name, 0) }
    unsafe rmdir(folder.path)
  }
}
