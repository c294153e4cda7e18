internal import Carabiner
internal import CarabinerDigest
internal import CarabinerFiles
internal import FoundationEssentials
internal import Glibc

/// A file that is being downloaded. It is hashed while it is written, and gets its name when it is whole.
///
/// It is locked while it is written. A file without lock was left by a process that ended.
struct PartialFile: ~Copyable {
  /// The end of the names of such files.
  static let suffix = ".partial"
  private static let mode: mode_t = 0o400

  private let cache: PluginCache
  private let path: String
  private let descriptor: Int32
  private var hash = SHA256Stream()
  private var isPlaced = false

  /// Creates a file in a folder.
  init(in cache: PluginCache) throws(DownloadError) {
    self.cache = cache
    (path, descriptor) = try Self.locked(in: cache.folder)
  }

  deinit {
    if !isPlaced { _ = unsafe unlink(path) }
    close(descriptor)
  }

  private static func locked(in folder: String) throws(DownloadError) -> (path: String, descriptor: Int32) {
    while true {
      // The name is random: processes in containers have equal ids.
      let path = "\(folder)/\(String(UInt64.random(in: 0...(.max)), radix: 16))\(suffix)"
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw PluginCache.fault(folder) }
      var status = stat()
      // Another process may have removed it before it was locked.
      if flock(descriptor, LOCK_EX) == 0, unsafe fstat(descriptor, &status) == 0, status.st_nlink > 0 {
        return (path, descriptor)
      }
      close(descriptor)
    }
  }

  /// Appends bytes.
  mutating func append(_ data: Data) throws(DownloadError) {
    let isWritten = unsafe data.withUnsafeBytes { bytes in
      unsafe hash.update(bytes)
      return unsafe FileReplacement.writeAll(bytes, to: descriptor)
    }
    guard isWritten else { throw PluginCache.fault(cache.folder) }
  }

  /// Puts the file in its place.
  ///
  /// - Parameter source: The URL without its query, for messages.
  /// - Throws: ``DownloadError`` if it is another file than the digest says. Then it is removed.
  mutating func place(_ digest: String, from source: String) throws(DownloadError) -> CachedPlugin {
    let found = hash.finish().hexDigits
    guard found == digest else {
      throw DownloadError(
        .pinMismatch,
        "the file at \(source) has the SHA-256 \(found), not \(digest); publish the right file there, or check this one and correct sha256"
      )
    }
    guard fchmod(descriptor, Self.mode) == 0, fsync(descriptor) == 0 else { throw PluginCache.fault(cache.folder) }
    let place = PluginCache.path(of: digest, in: cache.folder)
    while !isPlaced {
      isPlaced = Self.rename(path, to: place)
      if isPlaced { break }
      guard errno == EEXIST else { throw PluginCache.fault(cache.folder) }
      // Another process was faster. Its file is used, because others may hold a lock on it.
      if let other = try cache.file(digest) { return other }
    }
    FileReplacement.syncFolder(of: place)
    // Shared and not released: it must not be removed before it is opened for reading.
    flock(descriptor, LOCK_SH)
    guard let file = try cache.file(digest, isVerified: true) else {
      throw DownloadError(
        .storage, "\(place) was removed at once by another process; try again with a larger --plugin-cache-size")
    }
    return file
  }

  /// Renames a file. An existing one stays.
  private static func rename(_ path: String, to place: String) -> Bool {
    if unsafe link(path, place) == 0 {
      _ = unsafe unlink(path)
      return true
    }
    // Some file systems have no links.
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
    if unsafe access(place, F_OK) == 0 {
      errno = EEXIST
      return false
    }
    return unsafe Glibc.rename(path, place) == 0
  }
}
