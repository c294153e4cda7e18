internal import Foundation
internal import Synchronization

/// The state folder of a host, locked for one host at a time.
///
/// The lock belongs to the open file. It is released with ``release()``, or when the process ends in any way.
final class StateFolder: Sendable {
  private static let lockName = "lock"

  /// The open lock file; -1 once it was released.
  private let descriptor: Atomic<Int32>
  /// Whether another process shares the lock. Unlocking here would release it for that process too.
  private let isShared: Atomic<Bool>

  // The object is created after everything that can fail, because the optimiser cannot deallocate a partly initialised one.
  /// Creates the folder if there is none, and locks it.
  ///
  /// - Parameter inherited: A descriptor of the lock of a running gateway, which this process takes over; nil for none.
  /// - Throws: ``ServerError`` if another host uses it, or if it cannot be used.
  convenience init(_ folder: String, inherited: Int32? = nil) throws {
    let isInherited = inherited.map { Self.isLock($0, of: folder) } ?? false
    if let inherited, !isInherited { close(inherited) }
    self.init(descriptor: try inherited.flatMap { isInherited ? $0 : nil } ?? Self.lock(folder), isShared: isInherited)
  }

  private init(descriptor: Int32, isShared: Bool) {
    self.descriptor = Atomic(descriptor)
    self.isShared = Atomic(isShared)
  }

  deinit { release() }

  /// Releases the lock, so that another host can use the folder.
  ///
  /// The host calls it at its end, because the thread that has created the host may hold this object longer.
  func release() {
    let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
    guard descriptor >= 0 else { return }
    // A child process that is being started has a copy of the descriptor. Closing it here would not release the lock.
    if !isShared.load(ordering: .acquiring) { flock(descriptor, LOCK_UN) }
    close(descriptor)
  }

  /// Shares the lock with a process that takes over. The lock ends when both processes have ended.
  ///
  /// - Returns: A descriptor, which the caller closes; nil if the lock was released.
  func share() -> Int32? {
    isShared.store(true, ordering: .releasing)
    let copy = fcntl(descriptor.load(ordering: .acquiring), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    return copy >= 0 ? copy : nil
  }

  /// Writes this process into the lock file, because it has taken over.
  func note() {
    let descriptor = descriptor.load(ordering: .acquiring)
    if descriptor >= 0 { Self.write(descriptor) }
  }

  /// Whether a descriptor is that of the folder's lock file.
  private static func isLock(_ descriptor: Int32, of folder: String) -> Bool {
    var (one, other) = (stat(), stat())
    guard unsafe fstat(descriptor, &one) == 0, unsafe stat("\(folder)/\(lockName)", &other) == 0 else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  private static func lock(_ folder: String) throws -> Int32 {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ServerError.invalid(
        "the folder \(folder) cannot be created: \(error.localizedDescription); --state needs a writable folder")
    }
    let path = "\(folder)/\(lockName)"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw ServerError.invalid(
        unsafe "\(path) cannot be opened: \(String(cString: strerror(errno))); --state needs a writable folder")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = holder(descriptor)
      close(descriptor)
      throw ServerError(
        .inUse,
        "another carabiner\(SoleServer.name(of: holder)) keeps its state in \(folder); end it, or name another folder with --state"
      )
    }
    write(descriptor)
    return descriptor
  }

  private static func write(_ descriptor: Int32) {
    let text = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// The process ID in the lock file; nil if there is none yet.
  private static func holder(_ descriptor: Int32) -> pid_t? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return nil }
    return pid_t(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
  }
}
