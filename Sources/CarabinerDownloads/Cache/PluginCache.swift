internal import Carabiner
internal import CarabinerDigest
internal import CarabinerFiles
internal import FoundationEssentials
internal import Glibc

/// A folder of downloaded files, named after their SHA-256. Several processes of one user can share it.
struct PluginCache: Sendable {
  let folder: String

  /// Opens the folder, and creates it if it does not exist.
  ///
  /// - Throws: ``DownloadError`` if other users could change it.
  init(folder: String) throws(DownloadError) {
    self.folder = folder
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw DownloadError(.storage, "the folder for downloads \(folder) cannot be created; name another one with --plugin-cache")
    }
    do throws(TrustedPath.Fault) {
      try TrustedPath.resolve(folder)
    } catch {
      switch error {
      case .absent(let reason), .unsafe(let reason):
        throw DownloadError(.storage, "the folder for downloads \(folder) is not used: \(reason)")
      }
    }
  }

  static func path(of digest: String, in folder: String) -> String { "\(folder)/\(digest).so" }

  /// The path of the sidecar of a file. It is that of one URL, because a statement has a name, and one file can have several.
  func sidecar(of digest: String, from url: String) -> String {
    let source = String(Digest.sha256(Array(url.utf8)).hexDigits.prefix(16))
    return "\(folder)/\(digest).\(source).release"
  }

  /// A file that is there.
  ///
  /// A file with other bytes than its name says is removed.
  ///
  /// - Parameter isVerified: Whether it has just been written, and need not be read.
  /// - Returns: Nil if there is none.
  /// - Throws: ``DownloadError`` if the file cannot be read.
  func file(_ digest: String, isVerified: Bool = false) throws(DownloadError) -> CachedPlugin? {
    let path = Self.path(of: digest, in: folder)
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw DownloadError(
        .storage,
        unsafe "\(path) cannot be read: \(String(cString: strerror(errno))); let it belong to \(TrustedPath.userName), or remove it"
      )
    }
    var status = stat()
    var locked = flock(descriptor, LOCK_SH)
    while locked != 0, errno == EINTR { locked = flock(descriptor, LOCK_SH) }
    // It may have been removed between opening and locking.
    guard locked == 0, unsafe fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
      close(descriptor)
      return nil
    }
    guard isVerified || Self.digest(of: descriptor) == digest else {
      // Another process may have put the right file in its place. Waiting for its lock could take as long as a generation.
      var named = stat()
      if unsafe lstat(path, &named) == 0, named.st_dev == status.st_dev, named.st_ino == status.st_ino { _ = unsafe unlink(path) }
      close(descriptor)
      return nil
    }
    return CachedPlugin(path: path, digest: digest, descriptor: descriptor)
  }

  /// Keeps the sidecar of a file.
  func keep(_ sidecar: [UInt8], at path: String) throws(DownloadError) {
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(sidecar, to: path, mode: 0o400)
    } catch {
      throw Self.fault(folder, error.reason)
    }
  }

  /// The last failure of the system while a file was written.
  static func fault(_ folder: String) -> DownloadError { fault(folder, unsafe String(cString: strerror(errno))) }

  private static func fault(_ folder: String, _ reason: String) -> DownloadError {
    DownloadError(
      .storage,
      "the file cannot be written to \(folder): \(reason); check the folder and the disk, or name another one with --plugin-cache"
    )
  }

  /// SHA-256 of an open file; nil if it cannot be read.
  private static func digest(of descriptor: Int32) -> String? {
    var hash = SHA256Stream()
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      guard count > 0 else { break }
      unsafe chunk.withUnsafeBytes { unsafe hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    return hash.finish().hexDigits
  }
}
