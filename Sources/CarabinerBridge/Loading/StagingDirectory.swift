internal import CarabinerFiles
internal import Glibc
internal import Synchronization

/// The private folder of staged copies. The process removes it when it ends. If the process is killed, a later process removes
/// it.
final class StagingDirectory: Sendable {
  static let shared = StagingDirectory()

  static let prefix = "carabiner-"

  /// The folder, open and locked as long as the process lives.
  private struct Folder {
    let path: String
    let descriptor: Int32

    /// Whether the path still leads to the open folder, and no other user may write to it.
    var isOurs: Bool {
      var (open, named) = (stat(), stat())
      guard (try? TrustedPath.resolve(path)) == path, unsafe fstat(descriptor, &open) == 0, unsafe lstat(path, &named) == 0 else {
        return false
      }
      return open.st_ino == named.st_ino && open.st_dev == named.st_dev && open.st_uid == geteuid() && open.st_mode & 0o077 == 0
    }
  }

  private let made = Mutex<Folder?>(nil)

  /// Writes a copy, or finds an earlier one, and returns the path to load it from.
  func stage(_ file: PluginFile) throws(HostError) -> String {
    let folder = try folder(for: file)
    guard folder.isOurs else {
      throw StagedCopy.failure(file, "the private folder \(folder.path) was replaced or its permissions were changed")
    }
    let name = "\(file.digest).so"
    // This process wrote the copy. It is compared with the checked bytes again before it is loaded.
    if Self.holds(file.bytes, name, folder.descriptor) { return "\(folder.path)/\(name)" }
    let temporary = "\(name).\(UInt64.random(in: 0...(.max)))"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe openat(folder.descriptor, temporary, flags, 0o500)
    guard descriptor >= 0 else { throw StagedCopy.failure(file, "the private copy cannot be made in \(folder.path)") }
    let isWritten = FileReplacement.writeAll(file.bytes, to: descriptor)
    close(descriptor)
    guard isWritten, unsafe renameat(folder.descriptor, temporary, folder.descriptor, name) == 0 else {
      let refusal = StagedCopy.failure(file, "the private copy cannot be written in \(folder.path)")
      unsafe unlinkat(folder.descriptor, temporary, 0)
      throw refusal
    }
    return "\(folder.path)/\(name)"
  }

  /// Whether the folder has a file with these bytes that no other user may write to.
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

  private func folder(for file: PluginFile) throws(HostError) -> Folder {
    let parent = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let resolved: String
    do throws(TrustedPath.Fault) {
      resolved = try TrustedPath.resolve(parent)
    } catch {
      let reason =
        switch error {
        case .absent(let reason), .unsafe(let reason): reason
        }
      throw HostError(
        .stagingFailed, step: "stage", path: file.path,
        "no private copy can be made in \(parent): \(reason); correct XDG_RUNTIME_DIR, or write settings: {staging: memfd}")
    }
    let folder: Folder? = made.withLock { made in
      if let made { return made }
      AbandonedStaging.remove(in: resolved)
      // Another process may remove the new folder as abandoned before it is locked, so this is tried several times.
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

  /// Locks the folder until this process ends, to show other processes that it is in use.
  ///
  /// - Returns: The open folder; nil if it no longer exists.
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

  /// Removes the folder. Libraries that are mapped keep working without their files.
  private func remove() {
    guard let folder = made.withLock({ $0 }) else { return }
    for name in FolderListing.names(in: folder.path) { unsafe unlinkat(folder.descriptor, name, 0) }
    unsafe rmdir(folder.path)
  }
}
